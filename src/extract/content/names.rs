//! What the words of an element's `class` and `id` say that it is.
//!
//! A word is cut at hyphens, underscores and capitals, and the parts that only say how a thing
//! is laid out (`wrapper`, `inner`, `left`) are left out. What remains is compared in whole: the
//! `header` of `site-header` is a header, `has-sidebar` is no sidebar, and `threads` is no `ad`.

/// A kind of boilerplate that names tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Menus, breadcrumbs, page numbers, tables of contents.
    Navigation,
    /// The top of a site or of an article.
    Header,
    /// The end of a site or of an article.
    Footer,
    /// What stands beside.
    Aside,
    /// Cookie notices.
    Consent,
    /// Buttons that share, like and follow.
    Sharing,
    /// Teasers of other pages.
    Related,
    /// Invitations to subscribe.
    Newsletter,
    /// Advertisements.
    Advertisement,
    /// What readers wrote.
    Comments,
    /// Pop-ups.
    Dialog,
    /// Author, date, tags, ratings: data about the page.
    About,
    /// Search, filters and log-in.
    Control,
    /// For printers, screen readers or scripts alone.
    Unseen,
    /// What buyers say of a product.
    Ratings,
    /// Pictures shown one after the other.
    Gallery,
}

impl Kind {
    /// The ledger's name for what is removed as this kind.
    pub(super) fn rule(self) -> &'static str {
        match self {
            Self::Navigation => "content.navigation",
            Self::Header => "content.site_header",
            Self::Footer => "content.site_footer",
            Self::Aside => "content.aside",
            Self::Consent => "content.consent",
            Self::Sharing => "content.sharing",
            Self::Related => "content.related",
            Self::Newsletter => "content.newsletter",
            Self::Advertisement => "content.advertisement",
            Self::Comments => "content.comments",
            Self::Dialog => "content.dialog",
            Self::About => "content.about",
            Self::Control => "content.control",
            Self::Unseen => "content.unseen",
            Self::Ratings => "content.ratings",
            Self::Gallery => "content.gallery",
        }
    }

    /// The kind that one part of a word names.
    fn of(part: &str) -> Option<Self> {
        Some(match part {
            "nav" | "navbar" | "navi" | "navigation" | "menu" | "menus" | "submenu"
            | "mainmenu" | "topnav" | "subnav" | "breadcrumb" | "breadcrumbs" | "crumb"
            | "crumbs" | "breadcrum" | "pagination" | "paging" | "pager" | "paginator"
            | "pagenav" | "skiplink" | "skip" | "toc" | "sphinxsidebar" | "sitemap"
            | "dropdown" | "megamenu" | "navheader" | "navfooter" | "jump" | "prevnext" => {
                Self::Navigation
            }
            "header" | "masthead" | "topbar" | "banner" | "hdr" => Self::Header,
            "footer" | "colophon" | "copyright" | "imprint" | "ftr" => Self::Footer,
            "sidebar" | "sidebars" | "aside" | "rail" | "sidenav" | "supplemental" => Self::Aside,
            "cookie" | "cookies" | "consent" | "gdpr" | "cookiebar" | "cookiebanner" | "ccpa"
            | "onetrust" => Self::Consent,
            "share" | "shares" | "sharing" | "social" | "socials" | "sharedaddy" | "addtoany"
            | "addthis" | "sharethis" | "shareaholic" | "follow" | "likes" | "facebook"
            | "twitter" | "sharebar" | "jp-relatedposts" => Self::Sharing,
            "related" | "relateds" | "recommended" | "recommendation" | "recommendations"
            | "recirc" | "recirculation" | "outbrain" | "taboola" | "trending" | "popular"
            | "suggested" | "suggestions" | "readmore" | "morefrom" | "upsell" | "crosssell"
            | "relatedposts" | "seealso" | "mostread" | "mostpopular" => Self::Related,
            "newsletter" | "newsletters" | "subscribe" | "subscription" | "signup"
            | "mailchimp" | "optin" | "mailinglist" => Self::Newsletter,
            "ad" | "ads" | "adv" | "advert" | "adverts" | "advertising" | "advertisement"
            | "advertisements" | "sponsor" | "sponsors" | "sponsored" | "promo" | "promos"
            | "promotion" | "adsense" | "adsbygoogle" | "skyscraper" | "dfp" | "paywall" => {
                Self::Advertisement
            }
            "comment" | "comments" | "disqus" | "respond" | "replies" | "commentlist"
            | "livefyre" | "combx" | "remark" | "shoutbox" | "trackback" | "trackbacks"
            | "discussion" => Self::Comments,
            "modal" | "popup" | "dialog" | "overlay" | "lightbox" | "tooltip" | "popover"
            | "toast" | "agegate" | "interstitial" | "offcanvas" | "drawer" => Self::Dialog,
            "byline" | "meta" | "metadata" | "postmeta" | "entrymeta" | "tags" | "tag"
            | "tagcloud" | "author" | "authors" | "bio" | "rating" | "ratings" | "postmetadata"
            | "credit" | "credits" | "dateline" | "timestamp" | "categories" | "taglist"
            | "catlinks" => Self::About,
            "search" | "searchbox" | "searchform" | "login" | "signin" | "filter" | "filters"
            | "facets" | "toolbar" | "register" | "loginform" => Self::Control,
            "noprint" | "printfooter" | "visuallyhidden" | "rss" | "feedback" | "contact"
            | "editsection" => Self::Unseen,
            "review" | "reviews" | "testimonials" | "reviewlist" | "qna" => Self::Ratings,
            "gallery" | "galleries" | "slideshow" | "slider" | "carousel" | "swiper" | "slick"
            | "photogallery" | "inlinegallery" | "resgallery" => Self::Gallery,
            _ => return None,
        })
    }
}

/// What the names of one element say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Naming {
    /// The kind that one of its words names, with nothing else in the word.
    pub(super) whole: Option<Kind>,
    /// The kind that a word begins or ends with.
    pub(super) part: Option<Kind>,
    hints: u8,
}

/// What a part of a word speaks for without naming a kind of boilerplate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// Content.
    Content = 1,
    /// A heading.
    Title = 2,
    /// A person.
    Person = 4,
    /// What a person repeats under or beside every post.
    Signature = 8,
    /// A small picture.
    Icon = 16,
    /// Results of a search: what the page is for.
    Result = 32,
}

impl Hint {
    const ALL: &[Self] =
        &[Self::Content, Self::Title, Self::Person, Self::Signature, Self::Icon, Self::Result];

    /// Whether `part` speaks for it.
    fn is_in(self, part: &str) -> bool {
        match self {
            Self::Content => is_content(part),
            Self::Title => matches!(part, "title" | "heading" | "headline" | "caption" | "hed"),
            Self::Person => matches!(
                part,
                "user"
                    | "userinfo"
                    | "author"
                    | "poster"
                    | "postprofile"
                    | "profile"
                    | "member"
                    | "postauthor"
                    | "userdetails"
                    | "posterinfo"
            ),
            Self::Signature => matches!(
                part,
                "signature"
                    | "sig"
                    | "usertitle"
                    | "userextras"
                    | "extras"
                    | "reactions"
                    | "reaction"
                    | "badges"
                    | "badge"
                    | "avatar"
                    | "expand"
                    | "reputation"
                    | "flair"
                    | "rank"
            ),
            Self::Icon => matches!(
                part,
                "icon" | "icons" | "logo" | "logos" | "avatar" | "emoji" | "flag" | "spacer"
            ),
            Self::Result => matches!(part, "result" | "results"),
        }
    }
}

/// Longest word that is looked at, in bytes: longer ones are generated.
const MAX_WORD_BYTES: usize = 64;

impl Naming {
    /// Reads `class` and `id`.
    pub(super) fn read(class: Option<&str>, id: Option<&str>) -> Self {
        let mut naming = Self::default();
        for word in class.into_iter().chain(id).flat_map(str::split_ascii_whitespace) {
            if word.len() <= MAX_WORD_BYTES {
                naming.read_word(word);
            }
        }
        naming
    }

    fn read_word(&mut self, word: &str) {
        let mut lower = String::with_capacity(word.len() + 8);
        let mut was_small = false;
        for c in word.chars() {
            if c.is_ascii_uppercase() && was_small {
                lower.push('-');
            }
            was_small = c.is_ascii_lowercase();
            lower.push(c.to_ascii_lowercase());
        }
        let mut parts =
            lower.split(['-', '_', ':']).filter(|part| !part.is_empty() && !is_layout(part));
        let Some(first) = parts.next() else {
            return;
        };
        if is_state(lower.split(['-', '_']).next().unwrap_or_default()) {
            return;
        }
        let mut last = first;
        let mut count = 1;
        self.read_part(first);
        for part in parts {
            self.read_part(part);
            if !is_thing(part) {
                last = part;
                count += 1;
            }
        }
        let (first_kind, last_kind) = (Kind::of(first), Kind::of(last));
        let is_whole = count == 1 || count == 2 && first_kind.is_some() && last_kind.is_some();
        if is_whole {
            self.whole = self.whole.or(first_kind);
        }
        if !self.has(Hint::Result) {
            self.part = self.part.or(last_kind).or(first_kind);
        }
    }
}

impl Naming {
    /// Whether a part of a word speaks for `hint`.
    pub(super) fn has(self, hint: Hint) -> bool {
        self.hints & hint as u8 != 0
    }

    fn read_part(&mut self, part: &str) {
        for hint in Hint::ALL.iter().filter(|hint| hint.is_in(part)) {
            self.hints |= *hint as u8;
        }
    }
}

/// Parts that say how a thing is laid out, not what it is.
fn is_layout(part: &str) -> bool {
    part.len() == 1
        || part.bytes().all(|byte| byte.is_ascii_digit())
        || matches!(
            part,
            "wrapper"
                | "wrap"
                | "container"
                | "inner"
                | "outer"
                | "box"
                | "block"
                | "area"
                | "holder"
                | "panel"
                | "module"
                | "mod"
                | "component"
                | "region"
                | "group"
                | "row"
                | "col"
                | "cols"
                | "left"
                | "right"
                | "top"
                | "bottom"
                | "site"
                | "global"
                | "primary"
                | "secondary"
                | "desktop"
                | "mobile"
                | "js"
                | "section"
                | "wp"
                | "elementor"
                | "widget-area"
                | "the"
                | "my"
                | "new"
                | "full"
                | "bar"
                | "div"
                | "id"
                | "class"
                | "ui"
                | "sticky"
                | "fixed"
                | "floating"
                | "lg"
                | "md"
                | "sm"
                | "xs"
                | "side"
        )
}

/// Nouns that follow a kind without changing it: `related-posts`, `share-buttons`.
fn is_thing(part: &str) -> bool {
    matches!(
        part,
        "list"
            | "items"
            | "item"
            | "links"
            | "link"
            | "posts"
            | "post"
            | "articles"
            | "article"
            | "stories"
            | "story"
            | "news"
            | "products"
            | "product"
            | "content"
            | "contents"
            | "buttons"
            | "button"
            | "btn"
            | "icons"
            | "icon"
            | "media"
            | "title"
            | "heading"
            | "form"
            | "body"
            | "text"
            | "unit"
            | "slot"
            | "notice"
            | "tabs"
            | "tools"
    )
}

/// Parts that begin a word about the state of a page, not about the element.
fn is_state(part: &str) -> bool {
    matches!(
        part,
        "has" | "with" | "no" | "is" | "without" | "not" | "show" | "hide" | "can" | "enable"
    )
}

fn is_content(part: &str) -> bool {
    matches!(
        part,
        "article"
            | "articles"
            | "body"
            | "content"
            | "contents"
            | "entry"
            | "hentry"
            | "main"
            | "post"
            | "text"
            | "blog"
            | "story"
            | "column"
            | "maincontent"
            | "mainbody"
            | "markdown"
            | "prose"
            | "page"
            | "document"
            | "docs"
            | "articlebody"
            | "postcontent"
            | "bodytext"
            | "detail"
    )
}

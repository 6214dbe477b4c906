//! Headings that begin something else than a page's content, in the languages of the web.
//!
//! Phrases stand in lower case, without punctuation, parted by `|`; a `*` at the end stands for
//! any further words.

/// Teasers of other pages.
pub(super) const RELATED: &str = "\
    related|related articles*|related posts*|related stories*|related content*|related links*|\
    related topics*|related products*|related items*|related news*|related reading*|\
    related resources*|related pages*|related searches*|related videos*|related questions*|\
    related threads*|related discussions*|related coverage*|related categories*|related blogs*|\
    related guides*|similar articles*|similar posts*|similar threads*|similar products*|\
    similar topics*|similar items*|similar questions*|you may also like*|you might also like*|\
    you may also be interested*|you might also be interested*|you might be interested*|\
    you may like*|you might like*|also on*|also in*|also read*|read also*|read next*|read more*|\
    up next*|what to read next*|recommended|recommended for you*|recommended reading*|\
    recommended articles*|recommended stories*|recommended posts*|recommended videos*|\
    more from*|more stories*|more articles*|more news*|more posts*|more like this*|\
    more on this*|more to explore*|more to read*|more in*|keep reading*|continue reading*|\
    latest news*|latest posts*|latest articles*|latest stories*|latest blog*|recent posts*|\
    recent articles*|recent news*|recent stories*|recent comments*|most read*|most popular*|\
    popular posts*|popular articles*|popular stories*|popular now*|popular topics*|trending|\
    trending now*|trending topics*|trending stories*|trending news*|trending articles*|\
    hot topics*|featured articles*|featured posts*|featured stories*|editor's picks*|\
    editors' picks*|top stories*|don't miss*|in case you missed it*|customers also*|\
    customers who*|frequently bought together*|people also*|others also*|recently viewed*|\
    compare with similar*|compare similar*|sponsored*|from our partners*|from around the web*|\
    promoted*|shop more*|you'll also love*|you may love*|complete the look*|pairs well with*|\
    goes well with*|best sellers*|inspired by your*|das könnte sie auch interessieren*|\
    das könnte dich auch interessieren*|auch interessant*|mehr zum thema*|weitere artikel*|\
    ähnliche artikel*|ähnliche beiträge*|verwandte artikel*|neueste beiträge*|lesen sie auch*|\
    weitere beiträge*|weitere themen*|meistgelesen*|mehr aus*|à lire aussi*|lire aussi*|\
    articles similaires*|sur le même sujet*|articles liés*|les plus lus*|vous aimerez aussi*|\
    artículos relacionados*|noticias relacionadas*|te puede interesar*|le puede interesar*|\
    lo más leído*|entradas recientes*|você pode gostar*|leia também*|veja também*|\
    notícias relacionadas*|artigos relacionados*|mais lidas*|articoli correlati*|leggi anche*|\
    potrebbe interessarti*|ti potrebbe interessare*|lees ook*|gerelateerde*|czytaj także*|\
    czytaj też*|zobacz także*|zobacz też*|polecane*|читайте также*|похожие*|по теме*|\
    σχετικά άρθρα*|διαβάστε επίσης*|διαβάστε ακόμη*|相关阅读*|相关新闻*|相关文章*|推荐阅读*|热门推荐*|関連記事*|관련기사*|\
    관련 기사*";

/// Invitations to subscribe.
pub(super) const NEWSLETTER: &str = "\
    newsletter|newsletters|subscribe|subscribe to*|subscribe now*|sign up for*|sign up to*|\
    join our newsletter*|join our mailing*|stay up to date*|stay in touch*|stay connected*|\
    stay informed*|get the latest*|get our newsletter*|never miss*|our newsletter*|\
    free newsletter*|email newsletter*|newsletter abonnieren*|newsletter anmeldung*";

/// Buttons that share and follow.
pub(super) const SHARING: &str = "\
    share|share this*|share on*|share with*|share the*|follow us*|connect with us*|like this*|\
    teilen*|partager*|compartir*|find us on*";

/// What readers wrote, and who wrote the page.
pub(super) const COMMENTS: &str = "\
    comments*|comment|leave a comment*|leave a reply*|leave your comment*|post a comment*|\
    add a comment*|add comment*|write a comment*|join the conversation*|join the discussion*|\
    join the community*|discussion|responses|user comments*|reader comments*|cancel reply*|\
    about the author*|about author*|kommentare*|kommentar schreiben*|schreibe einen kommentar*|\
    kommentar hinterlassen*|commentaires*|laisser un commentaire*|comentarios*|\
    deja una respuesta*|deja un comentario*|comentários*|deixe um comentário*|commenti*|\
    lascia un commento*|reacties*|komentarze*|dodaj komentarz*|комментарии*|σχόλια*|\
    über den autor*|评论*";

/// What buyers say of a product, and what they ask.
pub(super) const RATINGS: &str = "\
    reviews*|customer reviews*|customer ratings*|product reviews*|ratings*|user reviews*|\
    verified reviews*|rating snapshot*|write a review*|questions & answers*|questions answers*|\
    customer questions*|q a*|customer photos*|faq*|faqs*|kundenbewertungen*|bewertungen*|\
    avis clients*|opiniones*";

/// Places of advertisements and labels of buttons.
pub(super) const ADVERTISEMENT: &str = "\
    advertisement|advertisements|advert|ad|advertising|sponsored|sponsored content|anzeige|werbung|\
    publicité|publicidad|anuncio|pubblicità|reklama|реклама|iklan|広告|广告|廣告|διαφήμιση|reklame|\
    advertentie|loading|story continues below advertisement|article continues below advertisement|\
    continue reading below|scroll to continue|read more|click here to read more|close|\
    caption|enlarge|enlarge image|media playback is unsupported on your device|\
    this slideshow requires javascript";

/// Words before the name of who made a picture.
pub(super) const CREDIT: &[&str] = &[
    "credit",
    "credits",
    "photo",
    "photos",
    "photo credit",
    "photo by",
    "photograph",
    "image",
    "image credit",
    "image source",
    "images",
    "picture",
    "pictures",
    "foto",
    "fotos",
    "bild",
    "bilder",
    "bildquelle",
    "crédit",
    "crédits",
    "crédit photo",
    "crédito",
    "créditos",
    "fotografía",
    "fot",
    "zdjęcie",
    "фото",
    "φωτογραφία",
    "写真",
    "图片来源",
    "图",
];

/// Labels of links that lead from the midst of a text to another page: `Related: …`.
pub(super) const LEADS: &str = "\
    related|more|read|read more|read also|see|see more|see also|see related|watch|watch more|next|\
    don't miss|up next|also|also on*|also read|must read|mehr|mehr dazu|mehr lesen|lesen|\
    lesen sie auch|siehe auch|lire|lire aussi|à lire|voir|voir aussi|leer|leer más|lea también|\
    ver|ver también|leggi|leggi anche|lees|lees ook|zobacz|zobacz też|czytaj|czytaj też|читайте|\
    читайте также|смотрите|по теме|διαβάστε";

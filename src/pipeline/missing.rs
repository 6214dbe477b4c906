//! What a host answers for a page that does not exist.
//!
//! Some answer 200, with words instead of a status. A page of the corpus that comes to be such an
//! answer is missing, as with 404; the store decides that, by the content's hash. A host is asked
//! once a run, for an address that nobody has made, and only before a page of the corpus is visited
//! again: in a first crawl there is nothing to lose.

use std::sync::{Arc, PoisonError};

use tokio::sync::{OnceCell, oneshot};

use super::PageInput;
use super::shared::Shared;
use crate::fetch::{Answer, Get, RobotsFile};
use crate::model::{ContentHash, FetchedPage, Validators, WebUrl};

/// The hash of an authority's answer, once it is known; `None` where it says that there is nothing.
pub(super) type KeptMissing = Arc<OnceCell<Option<ContentHash>>>;

impl Shared {
    /// The hash of the content that `page`'s authority answers for a page that does not exist;
    /// `None` where it answers as it should, or cannot be asked.
    pub(super) async fn missing(&self, page: &WebUrl, robots: &RobotsFile) -> Option<ContentHash> {
        if !self.config.recrawl.probe_missing {
            return None;
        }
        let place = {
            let mut all = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(page.authority()).or_default())
        };
        *place.get_or_init(|| self.ask_for_missing(page, robots)).await
    }

    async fn ask_for_missing(&self, page: &WebUrl, robots: &RobotsFile) -> Option<ContentHash> {
        let name = ContentHash::of_parts(&[page.authority().as_bytes(), self.run_id.as_bytes()]);
        let url = page.join(&format!("/{name}")).ok()?;
        if !robots.rules.verdict(url.as_url()).allowed {
            return None;
        }
        let turn = tokio::select! {
            turn = self.fetcher.turn(&url) => turn,
            () = self.ending.cancelled() => return None,
        };
        let validators = Validators::default();
        let get = Get { url: &url, validators: &validators, now: self.clock.now() };
        self.progress.request();
        let (answer, permit) = self.fetcher.ask_in(turn, &get).await.ok()?;
        let Answer::Page(answer) = answer else { return None };
        let hash = self.hash_of(&url, *answer).await;
        drop(permit);
        hash
    }

    /// The hash of a page's content, converted as every page is.
    async fn hash_of(&self, url: &WebUrl, page: FetchedPage) -> Option<ContentHash> {
        let plain = PageInput::new(url.key().to_string(), Some(page.url), "", page.body);
        let input = PageInput { media_type: page.media_type, charset: page.charset, ..plain };
        let room = self.pool.room(&input).await;
        let (tell, told) = oneshot::channel();
        self.pool.convert(input, Arc::clone(&self.run_id), move |converted| {
            drop(room);
            // Nobody listens any more once the crawl has failed.
            tell.send(converted.record.content_hash).unwrap_or_default();
        });
        told.await.ok().flatten()
    }
}

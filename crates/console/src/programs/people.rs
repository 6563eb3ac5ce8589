//! Who is asked for the sake of a program's call: whoever sits there, whoever sits elsewhere, or
//! nobody.

use std::sync::Arc;
use std::time::Duration;

use switchboard_host::{
    Answering, Ask, Asker, News, NobodyThere, Replying, Reviewer, ask_matter, review_matter,
};
use switchboard_policy::Question;
use switchboard_store::{Asked, Given, Reply};

use super::line::Line;
use super::told::Told;
use super::wanted::Whom;

/// Who is asked for the sake of one call.
pub(super) struct People {
    pub(super) line: Arc<Line>,
    pub(super) whom: Whom,
    /// How long they may take.
    pub(super) limit: Option<Duration>,
}

impl People {
    fn tell(&self, news: &News<'_>) {
        let told = match news {
            News::Waits(entry) if self.whom == Whom::Elsewhere => {
                Told::Waits { id: entry.id.clone(), matter: entry.asked.matter.clone() }
            }
            News::Waits(_) => return,
            News::AnsweredElsewhere { by, word, .. } => {
                Told::AnsweredElsewhere { by: (*by).to_owned(), word: (*word).to_owned() }
            }
            News::Expired(_) => Told::Expired,
        };
        self.line.tell(told);
    }
}

impl Reviewer for People {
    fn ask<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        match self.whom {
            Whom::Nobody => NobodyThere.ask(question),
            Whom::Elsewhere => Box::pin(std::future::pending()),
            Whom::Here => Box::pin(async move {
                let matter = review_matter(question);
                let asked = Asked { matter, call: None, reference: None, caller: None };
                let anyway = question.asks_anyway().map(str::to_owned);
                match self.line.put(asked, anyway).await.and_then(Given::into_answer) {
                    Some(answer) => Ok(answer),
                    // Whoever is not there any more decides nothing.
                    None => std::future::pending().await,
                }
            }),
        }
    }

    fn limit(&self) -> Option<Duration> {
        self.limit
    }

    fn hear(&self, news: News<'_>) {
        self.tell(&news);
    }
}

impl Asker for People {
    fn ask<'a>(&'a self, ask: &'a Ask) -> Replying<'a> {
        match self.whom {
            Whom::Nobody => {
                let (server, message) = (ask.server.clone(), ask.message.clone());
                self.line.tell(Told::Declined { server, message });
                Box::pin(async { Reply::Decline })
            }
            Whom::Elsewhere => Box::pin(std::future::pending()),
            Whom::Here => Box::pin(async move {
                let asked = Asked {
                    matter: ask_matter(ask),
                    call: ask.call.clone(),
                    reference: ask.reference.clone(),
                    caller: None,
                };
                match self.line.put(asked, None).await.and_then(Given::into_reply) {
                    Some(reply) => reply,
                    // Whoever is not there any more decides nothing.
                    None => std::future::pending().await,
                }
            }),
        }
    }

    fn completed(&self, server: &str) {
        if self.whom == Whom::Here {
            self.line.tell(Told::Completed { server: server.to_owned() });
        }
    }

    fn turned_down(&self, server: &str, why: &str) {
        let (server, why) = (server.to_owned(), why.to_owned());
        self.line.tell(Told::TurnedDown { server, why });
    }

    fn limit(&self) -> Option<Duration> {
        self.limit
    }

    fn hear(&self, news: News<'_>) {
        self.tell(&news);
    }
}

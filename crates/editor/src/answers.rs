//! Answers to what waits: the first one counts, whichever face it comes from.

use switchboard_store::{Given, WaitingError};
use tonic::Status;

use crate::door::Visitor;
use crate::editor::Editor;
use crate::generated::v1::{
    AnswerElicitationRequest, AnswerReviewRequest, ElicitationAction, McpToolReviewResultType,
};
use crate::values::from_struct;

impl Editor {
    /// Answers a question about a call.
    pub(crate) async fn answer_review(
        &self,
        visitor: &Visitor,
        request: AnswerReviewRequest,
    ) -> Result<(), Status> {
        use McpToolReviewResultType as Said;
        let said = Said::try_from(request.result)
            .map_err(|_| Status::invalid_argument("the `result` is not one of those known"))?;
        let given = match (said, request.arguments) {
            (Said::None, _) => return Err(Status::invalid_argument("the answer has no `result`")),
            (Said::Run, None) if request.for_session => Given::Session,
            (Said::Run, None) => Given::Run,
            (Said::Run, Some(arguments)) => {
                visitor.only_owner("putting other arguments in place")?;
                Given::RunWith(arguments)
            }
            (Said::AllowlistTool, _) => {
                visitor.only_owner("allowing a tool for good")?;
                Given::Always
            }
            (Said::Skip, _) => Given::Skip,
            (Said::RejectAndTellWhatToDoDifferently, _) => match request.instead.trim() {
                "" => Given::Skip,
                instead => Given::Reject(instead.to_owned()),
            },
        };
        self.answer(visitor, &request.id, &request.digest, given).await
    }

    /// Answers what a server asks.
    pub(crate) async fn answer_elicitation(
        &self,
        visitor: &Visitor,
        request: AnswerElicitationRequest,
    ) -> Result<(), Status> {
        let given = match ElicitationAction::try_from(request.action) {
            Ok(ElicitationAction::Accept) => Given::Accept(request.content.map(from_struct)),
            Ok(ElicitationAction::Decline) => Given::Decline,
            Ok(ElicitationAction::Cancel) => Given::Cancel,
            Ok(ElicitationAction::Unspecified) | Err(_) => {
                return Err(Status::invalid_argument("the answer has no `action`"));
            }
        };
        self.answer(visitor, &request.id, &request.digest, given).await
    }

    async fn answer(
        &self,
        visitor: &Visitor,
        id: &str,
        digest: &str,
        given: Given,
    ) -> Result<(), Status> {
        // A guest learns of nothing that waits for others, not even that there is something.
        if !visitor.is_owner() && !self.inner.hub.may_answer(id, visitor) {
            return Err(Status::not_found(format!("nothing that waits is called `{id}`")));
        }
        let by = format!("an editor ({})", visitor.name);
        let answered = self.host().waiting().answer(id, digest, given, &by).await;
        answered.map_err(|error| {
            let why = error.to_string();
            match error {
                WaitingError::Unknown(_) => Status::not_found(why),
                WaitingError::Over { .. } => Status::failed_precondition(why),
                WaitingError::OtherDigest { .. } => Status::aborted(why),
                WaitingError::DoesNotFit(_) => Status::invalid_argument(why),
                WaitingError::Store { .. } => Status::unavailable(why),
            }
        })
    }
}

#include "session/request.hpp"

namespace tenure::detail {
namespace {

bool goes_before(const Request& a, const Request& b) noexcept {
  if (a.options.priority != b.options.priority) return a.options.priority > b.options.priority;
  if (a.options.deadline != b.options.deadline) return a.options.deadline < b.options.deadline;
  return a.sequence < b.sequence;
}

}  // namespace

void Answers::send() noexcept {
  while (Reply* reply = first_) {
    first_ = reply->next;
    Request& request = *reply->request;
    if (reply->to_complete) request.receipt().complete(*reply->to_complete);
    const JobRef stuck = std::move(reply->to_mark_stuck);
    if (reply->to_resume != nullptr) reply->to_resume->post();
    if (stuck) stuck->mark_stuck();
    request.unref();
  }
}

void Intake::push(Request& request) noexcept {
  Request* before = last_;  // from the back: most requests are alike, and the newest goes last
  while (before != nullptr && goes_before(request, *before)) before = before->previous;
  Request* after = before == nullptr ? first_ : before->next;
  request.previous = before;
  request.next = after;
  (before == nullptr ? first_ : before->next) = &request;
  (after == nullptr ? last_ : after->previous) = &request;
  ++size_;
}

void Intake::remove(Request& request) noexcept {
  (request.previous == nullptr ? first_ : request.previous->next) = request.next;
  (request.next == nullptr ? last_ : request.next->previous) = request.previous;
  request.previous = request.next = nullptr;
  --size_;
}

Request* Intake::pop() noexcept {
  Request* request = first_;
  if (request != nullptr) remove(*request);
  return request;
}

}  // namespace tenure::detail

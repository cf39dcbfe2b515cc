//! The rules, by what they protect.

mod accidents;
mod claude_code;
mod context;
mod decisions;
mod doubts;
mod drafts;
mod endings;
mod names;
mod outcomes;
mod roots;
mod saves;
mod seen;
mod sets;
mod texts;
mod traces;
mod written;

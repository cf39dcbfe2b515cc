//! From a function with an attribute to its tests.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, FnArg, PatType, Result, ReturnType, Signature, Token, Type, Visibility,
};

use super::tables::{ALL, Row, SMOKE, Table};

/// The function as it is, and its tests; or the reason why there are none.
pub fn expand(table: &Table, word: TokenStream, function: TokenStream) -> TokenStream {
    let tests =
        tests(table, word, function.clone()).unwrap_or_else(|error| error.into_compile_error());
    quote!(#function #tests)
}

fn tests(table: &Table, word: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let words = Words::parse(table, word)?;
    let function = syn::parse2::<Function>(function)
        .map_err(|error| Error::new(error.span(), expected_function(table)))?;
    let Function {
        attributes,
        signature,
    } = function;
    let types = types(table, &signature)?;
    let name = &signature.ident;
    let conditions = attributes.iter().filter(|it| it.path().is_ident("cfg"));
    let tests = table.rows.iter().map(|row| test(row, &words, name, &types));
    let tests = tests.collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        #(#conditions)*
        mod #name {
            #(#tests)*
        }
    })
}

/// One test. All of it is where the function's name is: editors offer to run it there.
fn test(row: &Row, words: &Words, name: &Ident, types: &[&Ident]) -> Result<TokenStream> {
    let Row {
        variants,
        needs,
        is_older,
        ..
    } = row;
    let needs = match words.needs {
        Some(word) => format!("{word} and {needs}"),
        None => (*needs).to_owned(),
    };
    let is_in_default_set = match words.set {
        Some(SMOKE) => true,
        Some(_) => false,
        None => !is_older,
    };
    let reason = match is_in_default_set {
        true => format!("needs {needs}: cargo xtask test"),
        false => format!("in --all: needs {needs}: cargo xtask test --all"),
    };
    let test = Ident::new(&row.name, name.span());
    let arguments = types.iter().zip(variants).map(|(of, variant)| {
        let variant: TokenStream = variant.parse()?;
        Ok(quote!(super::#of::#variant))
    });
    let arguments = arguments.collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        #[test]
        #[ignore = #reason]
        fn #test() {
            super::#name(#(#arguments),*);
        }
    })
}

/// The words of an attribute.
#[derive(Default)]
struct Words {
    /// The set of tests that it changes.
    set: Option<&'static str>,
    /// What the tests need beside the editor.
    needs: Option<&'static str>,
}

impl Words {
    fn parse(table: &Table, words: TokenStream) -> Result<Words> {
        let mut found = Words::default();
        let parser = Punctuated::<Ident, Token![,]>::parse_terminated;
        let error = || Error::new_spanned(&words, expected_words(table));
        for word in parser.parse2(words.clone()).map_err(|_| error())? {
            let set = [SMOKE, ALL].into_iter().find(|set| word == set);
            let needs = table.words.iter().find(|(it, _)| word == it);
            let (place, value) = match (set, needs) {
                (Some(_), _) => (&mut found.set, set),
                (None, Some((_, needs))) => (&mut found.needs, Some(*needs)),
                (None, None) => return Err(error()),
            };
            if place.is_some() {
                return Err(error());
            }
            *place = value;
        }
        Ok(found)
    }
}

fn expected_words(table: &Table) -> String {
    let needs: Vec<_> = table.words.iter().map(|(word, _)| *word).collect();
    let needs = match needs[..] {
        [] => String::new(),
        _ => format!(
            ", one of {} for what the test needs beside the editor",
            needs.join(", ")
        ),
    };
    format!(
        "`#[{}]` takes {SMOKE} to have older releases in every run, {ALL} to have no release there{needs}, or nothing",
        table.attribute
    )
}

/// Returns the types of the parameters, if the function is one that the table's tests can call.
fn types<'a>(table: &Table, signature: &'a Signature) -> Result<Vec<&'a Ident>> {
    let types = signature.inputs.iter().map(|input| match input {
        FnArg::Typed(PatType { ty, .. }) => match &**ty {
            Type::Path(path) => path.path.get_ident(),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    let types: Option<Vec<_>> = types.collect();
    let expected = table.parameters.iter().map(|(_, of)| of);
    let types = types.filter(|types| types.iter().eq(expected));
    let is_plain = signature.asyncness.is_none()
        && signature.generics.params.is_empty()
        && matches!(signature.output, ReturnType::Default);
    types
        .filter(|_| is_plain)
        .ok_or_else(|| Error::new_spanned(signature, expected_function(table)))
}

/// Says what the attribute stands at.
fn expected_function(table: &Table) -> String {
    let parameters = table.parameters.iter();
    let parameters: Vec<_> = parameters.map(|(it, of)| format!("{it}: {of}")).collect();
    let (attribute, parameters) = (table.attribute, parameters.join(", "));
    format!("`#[{attribute}]` is for a function like `fn name({parameters})`")
}

/// The parts of a function that are read. Its body need not be complete: an editor expands it while somebody types there.
struct Function {
    attributes: Vec<Attribute>,
    signature: Signature,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Function> {
        let attributes = input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        let signature = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok(Function {
            attributes,
            signature,
        })
    }
}

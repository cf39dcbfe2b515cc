//! From a function with an attribute to its tests.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, FnArg, PatType, Result, ReturnType, Signature, Type, Visibility};

use super::tables::{CONFORMANCE, Row, Table};

/// The function as it is, and its tests; or the reason why there are none.
pub fn expand(table: &Table, word: TokenStream, function: TokenStream) -> TokenStream {
    let tests =
        tests(table, word, function.clone()).unwrap_or_else(|error| error.into_compile_error());
    quote!(#function #tests)
}

fn tests(table: &Table, word: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let word = parse_word(table, &word)?;
    let function = syn::parse2::<Function>(function)
        .map_err(|error| Error::new(error.span(), expected_function(table)))?;
    let Function {
        attributes,
        signature,
    } = function;
    let types = types(table, &signature)?;
    let name = &signature.ident;
    let conditions = attributes.iter().filter(|it| it.path().is_ident("cfg"));
    let tests = table.rows.iter().map(|row| test(row, word, name, &types));
    let tests = tests.collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        #(#conditions)*
        mod #name {
            #(#tests)*
        }
    })
}

/// One test. All of it is where the function's name is: editors offer to run it there.
fn test(row: &Row, word: Option<&str>, name: &Ident, types: &[&Ident]) -> Result<TokenStream> {
    let Row {
        variants, needs, ..
    } = row;
    let needs = match word {
        Some(word) => format!("{word} and {needs}"),
        None => (*needs).to_owned(),
    };
    let reason = match word {
        Some(CONFORMANCE) => format!("in --all: needs {needs}: cargo xtask test --all"),
        _ => format!("needs {needs}: cargo xtask test"),
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

/// Returns what the word stands for, if there is one.
fn parse_word(table: &Table, word: &TokenStream) -> Result<Option<&'static str>> {
    if word.is_empty() {
        return Ok(None);
    }
    let found = word.to_string();
    let mut words = table.words.iter();
    if let Some((_, needs)) = words.find(|(word, _)| *word == found) {
        return Ok(Some(needs));
    }
    let attribute = table.attribute;
    let words: Vec<_> = table.words.iter().map(|(word, _)| *word).collect();
    let expected = match words[..] {
        [] => format!("`#[{attribute}]` takes no arguments"),
        _ => format!(
            "`#[{attribute}]` takes nothing, or one word for what the test needs beside the editor: {}",
            words.join(", ")
        ),
    };
    Err(Error::new_spanned(word, expected))
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

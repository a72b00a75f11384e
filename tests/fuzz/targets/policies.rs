//! Policies: any bytes under any parameters. The preview lies within the output, and its lengths agree.
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use overspill::preview::{
    Catalog, Certainty, Input, Output, ParamKind, Part, PlanError, Policy, Report, Stream, Totals, plan,
};

thread_local! {
    /// Every policy there is, each form of its time with it; parsing takes longer than planning.
    static POLICIES: Vec<Policy> = {
        let catalog = Catalog::builtin();
        catalog.names().map(|name| catalog.get(name).unwrap()).collect()
    };
}

fuzz_target!(|data: &[u8]| {
    let _ = POLICIES.with(|policies| all(Unstructured::new(data), policies));
});

fn all(mut data: Unstructured, policies: &[Policy]) -> Result<()> {
    let mut policy = data.choose(policies)?.clone();
    for param in policy.params().to_vec() {
        if data.ratio(1, 2)? {
            // Out of a parameter's range it is refused, which is as good.
            let _ = policy.set(&param.name, &value(&mut data, &param.kind)?);
        }
    }
    let (is_counted, exit_code, is_apart) = (data.arbitrary()?, data.arbitrary()?, data.arbitrary()?);
    let stderr: Vec<u8> = if is_apart { data.arbitrary()? } else { Vec::new() };
    let bytes = data.take_rest();
    let totals = |bytes| if is_counted { Totals::count(bytes) } else { Totals::unknown() };
    let (of_output, of_errors) = (totals(bytes), totals(&stderr));
    let mut input = Input::new(Output { bytes, totals: &of_output }, "/home/me/P");
    input.stderr = is_apart.then_some(Output { bytes: &stderr, totals: &of_errors });
    input.saved_as_stderr = "/home/me/P.stderr";
    input.exit_code = exit_code;
    match plan(&input, &policy) {
        Ok(preview) => {
            assert_eq!(preview.byte_len(&input), preview.text(&input).len() as u64, "{}", policy.name());
            ordered(&preview.parts, &input, policy.name());
            if is_counted {
                assert!(preview.missing.is_empty(), "{}: {:?}", policy.name(), preview.missing);
                assert!(preview.counts_missing.is_empty(), "{}", policy.name());
            }
            let (preview, input, certainty) = (&preview, &input, Certainty::WouldGet);
            let report = Report { preview, input, policy: Some(&policy), certainty, limits_from: "policy", store: &[] };
            serde_json::to_string(&report).expect("a report is JSON");
        }
        Err(PlanError::Agent { .. }) => {}
        Err(error) => panic!("{}: {error}", policy.name()),
    }
    Ok(())
}

/// What is kept lies within its stream; kept parts of one stream are in order and do not meet.
fn ordered(parts: &[Part], input: &Input, name: &str) {
    let mut last = [0, 0];
    for part in parts {
        let Some((source, range)) = part.range() else { continue };
        assert!(range.end <= input.stream(source).bytes.len(), "{name}: {parts:?}");
        if let Part::Kept { .. } = part {
            let last = &mut last[usize::from(source == Stream::Stderr)];
            assert!(range.start < range.end && *last <= range.start, "{name}: {parts:?}");
            *last = range.end;
        }
    }
}

fn value(data: &mut Unstructured, kind: &ParamKind) -> Result<String> {
    Ok(match kind {
        ParamKind::Integer { .. } => match data.arbitrary::<u8>()? {
            0 => data.arbitrary::<u64>()?.to_string(),
            1 => u64::MAX.to_string(),
            2 => data.arbitrary::<u16>()?.to_string(),
            small => (small - 3).to_string(),
        },
        ParamKind::Boolean => data.arbitrary::<bool>()?.to_string(),
        ParamKind::Choice(words) => data.choose(words)?.clone(),
        ParamKind::Text => data.arbitrary::<&str>()?.to_owned(),
        ParamKind::Decimal => format!("{}.{}", data.arbitrary::<u16>()?, data.arbitrary::<u8>()?),
        _ => data.arbitrary::<&str>()?.to_owned(),
    })
}

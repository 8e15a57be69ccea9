//! The pictures of the guide: `scripts/dashboard-gallery` has them made.

use std::path::PathBuf;

use optimist_study::Measurement;

use crate::enter;
use crate::served::{Served, laboratory, large, several, tuned, tuning};

#[test]
#[ignore = "writes pictures for docs/dashboard; scripts/dashboard-gallery runs it"]
fn gallery() {
    let folder = PathBuf::from(std::env::var("OPTIMIST_GALLERY").expect("OPTIMIST_GALLERY names a folder"));
    let served = Served::new(|storage| {
        let mut study = tuning(storage, 48);
        study.annotate(None, "Second data set, **augmented**. Rates above 0.06 diverge.").unwrap();
        for worker in ["gpu-0", "gpu-1"] {
            study.ask_within(Some(worker), Some(std::time::Duration::from_secs(3600))).unwrap();
        }
        let mut film = laboratory(storage);
        for value in [61.5, 64.0, 58.2, 70.1, 71.5] {
            let job = film.ask(Some("anna")).unwrap();
            film.tell(
                job.trial,
                Measurement { note: Some("oven 2".into()), ..Measurement::new(value) },
                None,
            )
            .unwrap();
        }
        film.ask(Some("anna")).unwrap();
        tuned(storage, "random-search", "random", 48);
        several(storage, 24);
        large(storage, 5_000);
    });
    let browser = enter(&served);
    let pages = [
        ("studies", "/", "#studies", "light", (1280, 520), false),
        (
            "compare",
            "/compare?study=image-model&study=random-search",
            "main svg",
            "light",
            (1280, 800),
            false,
        ),
        ("overview", "/studies/image-model", "#answer .value", "light", (1280, 900), true),
        ("overview-dark", "/studies/image-model", "#answer .value", "dark", (1280, 900), false),
        ("overview-phone", "/studies/image-model", "#answer .value", "light", (390, 844), false),
        ("front", "/studies/phone-net", "#answer table.front", "light", (1280, 900), true),
        ("trials", "/studies/image-model/trials", "#trials", "light", (1280, 700), false),
        ("trial", "/studies/image-model/trials/11", "#trial", "light", (1280, 800), false),
        (
            "analysis",
            "/studies/image-model/analysis?filter=value%3C0.24",
            "[data-plot='contour'] svg",
            "light",
            (1280, 900),
            true,
        ),
        (
            "analysis-dark",
            "/studies/image-model/analysis",
            "[data-plot='contour'] svg",
            "dark",
            (1280, 900),
            true,
        ),
        ("laboratory", "/studies/film/laboratory", "#trial-5", "light", (1024, 768), false),
        ("laboratory-phone", "/studies/film/laboratory", "#trial-5", "light", (390, 844), false),
        ("manage", "/studies/image-model/manage", "main", "light", (1280, 900), true),
        ("large", "/studies/large", "#history svg", "light", (1280, 800), false),
    ];
    for (name, page, sign, scheme, (width, height), is_whole) in pages {
        browser.size(width, height);
        browser.media(scheme, "screen");
        browser.open(&served.at(page));
        browser.wait_for(sign);
        browser.wait("the model is fitted", |browser| browser.count("[data-again]") == 0);
        browser.screenshot(&folder.join(format!("{name}.png")), is_whole);
    }
    for _ in 0..5 {
        served.study("film").ask(Some("anna")).unwrap();
    }
    browser.size(1024, 480);
    browser.media("light", "print");
    browser.open(&served.at("/studies/film/laboratory/sheet"));
    browser.wait_for("table.sheet");
    browser.screenshot(&folder.join("sheet.png"), false);
}

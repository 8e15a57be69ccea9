//! A fed-batch fermentation of penicillin, stepped hour by hour (Birol, Undey and Cinar 2002).

/// Steps, at the most.
const HOURS: usize = 2500;

/// Litres that the vessel holds.
const FULL: f64 = 180.0;

/// Grams per litre an hour; with less the batch is over.
const LEAST_YIELD: f64 = 1e-11;

/// From volume, biomass, temperature, substrate, feed rate, feed concentration and pH: minus the penicillin made, the carbon dioxide,
/// and the hours it took.
pub(super) fn simulate(x: &[f64]) -> Vec<f64> {
    let [mut volume, mut biomass, temperature, mut substrate, feed, concentration, ph] =
        [x[0], x[1], x[2], x[3], x[4], x[5], x[6]];
    let (mut penicillin, mut carbon_dioxide, mut hours) = (0.0, 0.0, 0.0);
    let evaporation = 2.5e-4 * ((5.0 * (temperature - 373.0) / (273.0 - 373.0)).exp() - 1.0);
    let acid = 10f64.powf(-ph);
    let by_acid = 0.092 / (1.0 + 1e-10 / acid + acid / 7e-5);
    let arrhenius = |factor: f64, energy: f64| factor * (-energy / (1.987_2 * temperature)).exp();
    let by_temperature = arrhenius(7e3, 5100.0) - arrhenius(1e33, 50_000.0);
    for _ in 0..HOURS {
        let inflow = feed - volume * evaporation;
        let growth = by_acid * by_temperature * substrate / (0.15 * biomass + substrate);
        let making = 0.005 * substrate / (0.000_2 + substrate + substrate * substrate / 0.1);
        let more_biomass = growth * biomass - biomass / volume * inflow;
        let more_substrate = -(growth / 0.45 + making / 0.9 + 0.014) * biomass
            + feed * concentration / volume
            - substrate / volume * inflow;
        let more_penicillin = making * biomass - 0.04 * penicillin - penicillin / volume * inflow;
        carbon_dioxide += 0.143 * more_biomass + 4e-7 * biomass + 1e-4;
        penicillin += more_penicillin;
        volume += inflow;
        biomass += more_biomass;
        substrate += more_substrate;
        hours += 1.0;
        if volume > FULL || substrate < 0.0 || more_penicillin < LEAST_YIELD {
            break;
        }
    }
    vec![-penicillin, carbon_dioxide, hours]
}

//! x
use crate::render::render_all;
use crate::scene::samples;
use convoke_histories::Agent;

#[test]
fn dump() {
    let all = samples().unwrap();
    for agent in Agent::ALL {
        let home = all.join(agent.as_str());
        for root in
            convoke_histories::Store::roots(agent, &convoke_histories::Environment::new(&home))
        {
            if root.is_dir() {
                println!("=== {agent}\n{}", render_all(agent, &root));
            }
        }
    }
}

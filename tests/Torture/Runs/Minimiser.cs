using System.Diagnostics;

namespace Treepie.Torture.Runs;

/// <summary>
/// Shortens a failing scenario as much as possible in limited time, by leaving out steps, then changes, while it still fails.
/// </summary>
internal static class Minimiser
{
    private static readonly TimeSpan _maxTime = TimeSpan.FromSeconds(20);

    /// <summary>Returns the shortest failing scenario found, with its failure and a log of events.</summary>
    public static TortureFailure Minimise(Scenario scenario, ExplorerShape shape, TortureFailure failure)
    {
        if (failure.InnerException is TimeoutException)
            // Each attempt would hang.
            return new TortureFailure(
                failure.Message, [.. scenario.Tell(), "What happened:", .. failure.Story], failure.InnerException);

        var watch = Stopwatch.StartNew();
        Scenario shortest = scenario;
        ExplorerShape thorough = shape with { MomentPercent = 100 };
        if (Fails(shortest, thorough) is null)
            thorough = shape;

        for (bool isShorter = true; isShorter && watch.Elapsed < _maxTime;)
        {
            isShorter = false;
            foreach (Scenario candidate in Shorter(shortest))
            {
                if (watch.Elapsed > _maxTime)
                    break;
                if (Fails(candidate, thorough) is null)
                    continue;

                shortest = candidate;
                isShorter = true;
                break;
            }
        }

        TortureFailure told = Fails(shortest, thorough, isTold: true) ?? failure;
        return new TortureFailure(told.Message, [.. shortest.Tell(), "What happened:", .. told.Story], told.InnerException);
    }

    private static TortureFailure? Fails(Scenario scenario, ExplorerShape shape, bool isTold = false)
    {
        try
        {
            new SimulatedRun(scenario, shape, new Tally(), isTold).Run();
            return null;
        }
        catch (TortureFailure failure)
        {
            return failure;
        }
    }

    /// <summary>Leaves out halves first, then single steps, then single changes.</summary>
    private static IEnumerable<Scenario> Shorter(Scenario scenario)
    {
        for (int client = 0; client < scenario.Clients.Count; client++)
        {
            IReadOnlyList<Step> steps = scenario.Clients[client];
            for (int length = steps.Count / 2; length >= 1; length /= 2)
                for (int from = 0; from + length <= steps.Count; from += length)
                    yield return With(scenario, client, [.. steps.Take(from), .. steps.Skip(from + length)]);
            for (int at = 0; at < steps.Count; at++)
            {
                Step step = steps[at];
                for (int command = 0; command < step.Commands.Count; command++)
                {
                    for (int change = 0; step.Commands[command].Count > 1 && change < step.Commands[command].Count; change++)
                    {
                        Models.Change[] fewer = [.. step.Commands[command].Where((_, index) => index != change)];
                        Step shorter = step with
                        {
                            Commands = [.. step.Commands.Select((old, index) => index == command ? fewer : old)]
                        };
                        yield return With(scenario, client, [.. steps.Take(at), shorter, .. steps.Skip(at + 1)]);
                    }
                }
            }
        }

        if (scenario.HasThreads)
            yield return scenario with { HasThreads = false, Clients = [[.. scenario.Clients.SelectMany(steps => steps)]] };
    }

    private static Scenario With(Scenario scenario, int client, IReadOnlyList<Step> steps) =>
        scenario with { Clients = [.. scenario.Clients.Select((old, index) => index == client ? steps : old)] };
}

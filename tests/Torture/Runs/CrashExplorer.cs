using Treepie.Storage;
using Treepie.Storage.Simulation;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <summary>How thoroughly the outcomes of a crash are explored.</summary>
internal sealed record ExplorerShape
{
    /// <summary>Up to this many outcomes, all are verified; if there are more, only the most informative ones.</summary>
    public int AllUpTo { get; init; } = 64;

    /// <summary>Number of additional random outcomes, with torn and garbled sectors.</summary>
    public int Drawn { get; init; } = 4;

    /// <summary>Whether to verify the most informative outcomes if there are too many to verify all.</summary>
    public bool IsTelling { get; init; } = true;

    /// <summary>Percentage of moments that are explored.</summary>
    public int MomentPercent { get; init; } = 100;

    /// <summary>
    /// Whether to skip the moments before the first kill, power loss, failing call or full disk of the run, which other runs
    /// explore.
    /// </summary>
    public bool IsAfterTroubleOnly { get; init; }

    /// <summary>Percentage of crash states after which work continues and crashes again.</summary>
    public int ThoroughPercent { get; init; } = 10;
}

/// <summary>Enumerates the crash states at each moment of a run and verifies each of them.</summary>
internal sealed class CrashExplorer(Scenario scenario, ExplorerShape shape, Tally tally, NonceRecorder seals)
{
    private const int FewSectors = 2;
    private const int TearsOfSector = 4;

    private readonly CrashVerifier _verifier = new(scenario, tally, seals);
    private readonly Random _random = new(scenario.Seed);

    /// <summary>The first failure. The power is off from then on.</summary>
    public TortureFailure? Failure { get; private set; }

    /// <summary>Whether the first crash or kill of the run has happened.</summary>
    public bool IsAfterCrash { get; set; }

    /// <summary>
    /// The transaction that must be durable, judging from what the engine has published: readers see durable states only.
    /// </summary>
    public static long Required(StorageEnvironment environment, StorageOptions options) =>
        options.Durability == Durability.Durable
            ? environment.State.Current.TransactionId
            : environment.State.Durable.LastTransaction;

    /// <summary>Explores a power loss at this moment. One of the keys must open the disk.</summary>
    public void Explore(SimulatedDisk disk, History history, long required, IReadOnlyList<int> keys)
    {
        if (Failure is not null
            || (shape.IsAfterTroubleOnly && !IsAfterCrash && !disk.HasFailed)
            || (shape.MomentPercent < 100 && _random.Next(100) >= shape.MomentPercent))
            return;

        tally.AddBarrier();
        var loss = new PowerLoss(disk);
        foreach (CrashOutcome outcome in Outcomes(loss))
        {
            DiskImage image = outcome.Build();
            if (!_verifier.Note(image, history, required))
                continue;

            try
            {
                _verifier.Verify(image, history, required, keys, isThorough: _random.Next(100) < shape.ThoroughPercent);
            }
            catch (TortureFailure failure)
            {
                Failure = Minimise(outcome, failure, history, required, keys);
                disk.PowerOff();
                return;
            }
        }
    }

    private IEnumerable<CrashOutcome> Outcomes(PowerLoss loss)
    {
        IEnumerable<CrashOutcome> outcomes = loss.Outcomes <= shape.AllUpTo
            ? loss.Every()
            : shape.IsTelling ? loss.Telling() : [loss.None(), loss.All()];
        foreach (CrashOutcome outcome in outcomes)
            yield return outcome;
        if (loss.Options.Count == 0)
            yield break;

        // If only a few sectors are being written, as for a meta page, tear them at many positions.
        int[] changed = [.. loss.ChangedSectors.Take(FewSectors + 1)];
        for (int i = 0; changed.Length <= FewSectors && i < changed.Length * TearsOfSector && shape.Drawn > 0; i++)
            yield return loss.All().With(changed[i / TearsOfSector], CrashOutcome.Damage(_random));
        if (loss.Sectors > 0 && shape.Drawn > 0)
        {
            yield return loss.Heads(areKept: true);
            yield return loss.Heads(areKept: false);
            yield return loss.Rewritten(_random, isAll: _random.Next(2) == 0);
        }

        for (int i = 0; i < shape.Drawn; i++)
            yield return loss.Draw(_random, withDamage: i % 2 == 0);
    }

    /// <summary>Reproduces the failure with as few lost or damaged sectors as possible, and describes them.</summary>
    private TortureFailure Minimise(
        CrashOutcome outcome, TortureFailure failure, History history, long required, IReadOnlyList<int> keys)
    {
        foreach (bool wanted in (bool[])[true, false])
        {
            for (int i = 0; i < outcome.Picks.Count; i++)
            {
                int pick = wanted ? outcome.Loss.Options[i] - 1 : 0;
                if (outcome.Picks[i] == pick || (!wanted && outcome.Picks[i] > 0))
                    continue;

                CrashOutcome simpler = outcome.With(i, pick);
                try
                {
                    _verifier.Verify(simpler.Build(), history, required, keys, isThorough: true);
                }
                catch (TortureFailure same)
                {
                    outcome = simpler;
                    failure = same;
                }
            }
        }

        return new TortureFailure(
            failure.Message,
            ["Power fails here, and of what was not synced:", .. outcome.Describe()
                .Select(line => "    " + line), .. failure.Story],
            failure.InnerException);
    }
}

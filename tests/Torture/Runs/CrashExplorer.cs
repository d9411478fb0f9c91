using Treepie.Storage;
using Treepie.Storage.Simulation;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <summary>How much of what a crash can leave is looked at.</summary>
internal sealed record ExplorerShape
{
    /// <summary>Where there are up to so many outcomes, all of them; beyond, the telling ones.</summary>
    public int AllUpTo { get; init; } = 64;

    /// <summary>So many drawn ones besides, with torn and garbled sectors.</summary>
    public int Drawn { get; init; } = 4;

    /// <summary>Whether the telling ones are looked at where there are too many for all.</summary>
    public bool IsTelling { get; init; } = true;

    /// <summary>Of a hundred moments, so many.</summary>
    public int MomentPercent { get; init; } = 100;

    /// <summary>
    /// Whether moments before the first kill, loss of power, failing call or full disk of the run are passed over: other runs
    /// look at those.
    /// </summary>
    public bool IsAfterTroubleOnly { get; init; }

    /// <summary>Of a hundred crash states, in so many work goes on and crashes again.</summary>
    public int ThoroughPercent { get; init; } = 10;
}

/// <summary>Takes the crash states of each moment of a run and proves each of them.</summary>
internal sealed class CrashExplorer(Scenario scenario, ExplorerShape shape, Tally tally, NonceRecorder seals)
{
    private const int FewSectors = 2;
    private const int TearsOfSector = 4;

    private readonly CrashVerifier _verifier = new(scenario, tally, seals);
    private readonly Random _random = new(scenario.Seed);

    /// <summary>The first broken promise; the power is off since then.</summary>
    public TortureFailure? Failure { get; private set; }

    /// <summary>Whether the run's first crash or kill is over.</summary>
    public bool IsAfterCrash { get; set; }

    /// <summary>What must be durable by now, going by what the engine has published: readers see durable states only.</summary>
    public static long Required(StorageEnvironment environment, StorageOptions options) =>
        options.Durability == Durability.Durable
            ? environment.State.Current.TransactionId
            : environment.State.Durable.LastTransaction;

    /// <summary>Power may fail now, while one of the keys opens what is on the disk.</summary>
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

        // A sector alone on its way, as that of a meta page is: torn at many places.
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

    /// <summary>The same failure with as few sectors lost or damaged as will do, and a story of them.</summary>
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

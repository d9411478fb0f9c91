using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Torture.Models;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// Damage that is not caused by power loss. A journal file is truncated somewhere: opening must find everything or refuse.
/// Pages change on the disk after they were verified: once the scrub has read them, or the system has evicted them and that
/// was noticed, every reader must get an error, and nobody may get anything other than what was written.
/// </summary>
internal sealed class DamageMode(Bases bases) : IMode
{
    public const string ModeName = "damage";

    private const int CutsOfPiece = 8;
    private const int Kinds = 4;
    private const int CrashedBase = 2;

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => piece / Kinds % 2 == 1;

    public void Run(long piece, Tally tally)
    {
        var random = new Random((int)(piece % int.MaxValue));
        bool isEncrypted = IsEncrypted(piece);
        if (piece % Kinds < 2)
            Cut(random, isEncrypted, tally);
        else
            Change(random, isEncrypted, isScrub: isEncrypted || piece % Kinds == 2, tally);
    }

    private void Cut(Random random, bool isEncrypted, Tally tally)
    {
        Scenario scenario = Begin(isEncrypted, CrashedBase);
        History history = bases.HistoryOf(Durability.Durable, CrashedBase, isEncrypted);
        string[] journals = [
            .. scenario.Start.Files.Keys
                .Where(name => name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal))
                .Order(StringComparer.Ordinal)];
        for (int i = 0; i < CutsOfPiece; i++)
        {
            string file = journals[random.Next(journals.Length)];
            DiskContent whole = scenario.Start.Files[file], cut = whole.Fork();
            int unit = random.Next(3) switch { 0 => 1, 1 => 512, _ => FrameHeader.AlignmentBytes };
            cut.SetLength(random.Next((int)whole.Length) / unit * unit);
            tally.AddRecovery(isEncrypted);
            string what = $"{(isEncrypted ? "encrypted, " : "")}'{file}' cut off at {cut.Length} of {whole.Length}";
            Open(scenario, new SimulatedDisk(new Random(1), scenario.Start.With(file, cut)), what, environment =>
            {
                using ReadTransaction read = environment.BeginRead();
                if (read.TransactionId != history.Last)
                    throw new TortureFailure(
                        $"With a journal cut off ({what}) transaction {read.TransactionId} is found and nothing is said; "
                            + $"{history.Last} was acknowledged.");
                if (history.At(read.TransactionId).Difference(read) is { } difference)
                    throw new TortureFailure($"With a journal cut off ({what}) something else is read: {difference}.");
            });
        }
    }

    private void Change(Random random, bool isEncrypted, bool isScrub, Tally tally)
    {
        int kind = random.Next(1, Bases.Count);
        Scenario scenario = Begin(isEncrypted, kind);
        History history = bases.HistoryOf(Durability.Durable, kind, isEncrypted);
        var disk = new SimulatedDisk(new Random(1), scenario.Start) { MapsSeeWrites = !isScrub || random.Next(2) == 0 };
        tally.AddRecovery(isEncrypted);
        string what = $"{(isEncrypted ? "encrypted, " : "")}{(isScrub ? "scrubbed" : "put out of memory")}, base {kind}";
        Open(scenario, disk, what, environment =>
        {
            using ReadTransaction read = environment.BeginRead();
            if (history.At(history.Last).Difference(read) is { } early)
                throw new TortureFailure($"Before anything is changed ({what}): {early}.");

            List<long> changed = ChangePages(random, disk.Bytes(FormatLimits.DataFileName), environment);
            if (isScrub)
            {
                environment.State.Scrubber!.RunPass(); // not null, because the environment is writable
                long[] found = environment.State.Store.Proofs.Damaged.All();
                if (!changed.All(found.Contains))
                    throw new TortureFailure(
                        $"Pages {string.Join(", ", changed)} were changed on the disk ({what}), the scrub found "
                            + $"{string.Join(", ", found)}.");
            }
            else
            {
                disk.EvictMaps();
                environment.State.Store.Proofs.WithdrawEvicted(environment.State.Store.FilePages);
            }

            try
            {
                string? difference = history.At(history.Last).Difference(read);
                throw new TortureFailure(
                    $"Pages {string.Join(", ", changed)} were changed on the disk ({what}), and nobody says so: "
                        + $"{difference ?? "all is read as it was"}.");
            }
            catch (CorruptionException)
            {
                // Expected.
            }
        });
    }

    /// <summary>Flips a bit in one to three tree pages that the state uses and that are stored in the file.</summary>
    private static List<long> ChangePages(Random random, byte[] file, StorageEnvironment environment)
    {
        var pages = new List<long>();
        ulong[] live = environment.State.Space.CopyLive();
        for (long page = FormatLimits.FirstDataPage;
             page < Math.Min(environment.State.Space.PageCount, file.Length / PageLayout.SizeBytes);
             page++)
        {
            var head = new Page(file.AsSpan((int)page * PageLayout.SizeBytes, PageLayout.SizeBytes));
            bool isLive = (live[page / 64] & (1UL << (int)(page % 64))) != 0;
            if (isLive
                && environment.State.Store.FrameOf(page) == 0
                && head.Number == page
                && head.TreeId > 2
                && head.Type is PageType.Leaf or PageType.Branch)
                pages.Add(page);
        }

        var changed = new SortedSet<long>();
        for (int i = random.Next(1, 4); i > 0 && pages.Count > 0; i--)
            changed.Add(pages[random.Next(pages.Count)]);
        foreach (long page in changed)
            file[(page * PageLayout.SizeBytes) + random.Next(PageLayout.SizeBytes)] ^= (byte)(1 << random.Next(8));
        return changed.Count > 0 ? [.. changed] : throw new TortureFailure("The base has no pages to change.");
    }

    private static void Open(Scenario scenario, SimulatedDisk disk, string what, Action<StorageEnvironment> verify)
    {
        StorageEnvironment? environment = null;
        try
        {
            environment = StorageEnvironment.Open(
                new World(disk, new SimulatedClock(), new Random(7), IsBackgroundAllowed: false), scenario.OptionsWith(0));
            verify(environment);
        }
        catch (StorageException)
        {
            // The damage is reported, as it must be.
        }
        catch (Exception error) when (error is not TortureFailure)
        {
            throw new TortureFailure(
                $"With damage ({what}): {error.GetType().Name}: {error.Message}", error.ToString().Split('\n'), error);
        }
        finally
        {
            disk.PowerOff();
            environment?.Dispose();
        }
    }

    private Scenario Begin(bool isEncrypted, int kind) =>
        bases.Begin(new Scenario { Seed = 1, Clients = [[]], IsEncrypted = isEncrypted, Options = Scenario.SmallOptions }, kind);
}

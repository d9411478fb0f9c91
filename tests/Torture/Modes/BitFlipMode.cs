using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Torture.Models;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// Flips one bit or changes a few bytes of a file. Opening must be refused with a typed error or find one of the earlier
/// states, never anything else. Pieces go through every byte of every file, in an order that spreads them.
/// </summary>
internal sealed class BitFlipMode : IMode
{
    public const string ModeName = "bit-flips";

    private const int FlipsOfPiece = 16;
    private const long Stride = 1_000_003;

    private readonly List<(DiskImage Image, History History, string File, Scenario Scenario)> _targets = [];
    private readonly Bases _bases;

    public BitFlipMode(Bases bases)
    {
        _bases = bases;
        foreach (Durability durability in (Durability[])[Durability.Durable, Durability.Relaxed])
        {
            for (int kind = 2; kind < 2 * Bases.Count; kind++)
            {
                Scenario scenario = Begin(durability, kind / 2, isEncrypted: kind % 2 == 1);
                foreach (string file in scenario.Start.Files.Keys.Order(StringComparer.Ordinal))
                    _targets.Add((scenario.Start, _bases.HistoryOf(durability, kind / 2, scenario.IsEncrypted), file, scenario));
            }
        }
    }

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => _targets[(int)(piece % _targets.Count)].Scenario.IsEncrypted;

    public void Run(long piece, Tally tally)
    {
        (DiskImage image, History history, string file, Scenario scenario) = _targets[(int)(piece % _targets.Count)];
        DiskContent content = image.Files[file];
        Span<byte> one = stackalloc byte[1];
        for (int i = 0; i < FlipsOfPiece; i++)
        {
            long number = (piece / _targets.Count * FlipsOfPiece) + i;
            long offset = (long)((UInt128)(ulong)number * (ulong)Stride % (ulong)content.Length);

            // Most of a file is zeros that are never read. So one flip in four hits the first meta pages or headers, one the
            // header of a page or frame, one the beginning of a sector, and one any byte.
            long place = number / 4;
            offset = (number % 4) switch
            {
                0 => (place % 256)
                    + (place / 256 % 2 * (file == FormatLimits.DataFileName ? PageLayout.SizeBytes : FrameHeader.AlignmentBytes)),
                1 => (offset & ~(long)(FrameHeader.AlignmentBytes - 1)) + (place % 256),
                2 => (offset & ~511L) + (place % 128),
                _ => offset,
            };
            if (offset >= content.Length)
                continue;

            DiskContent damaged = content.Fork();
            damaged.Read(one, offset);
            one[0] ^= (byte)(1 << (int)(number % 8));
            damaged.Write(one, offset);
            tally.AddRecovery(scenario.IsEncrypted);
            Verify(
                image.With(file, damaged), history, scenario,
                $"{(scenario.IsEncrypted ? "encrypted, " : "")}'{file}', byte {offset}, bit {number % 8}");
        }
    }

    private static void Verify(DiskImage image, History history, Scenario scenario, string what)
    {
        Durability durability = scenario.Options.Durability;
        var disk = new SimulatedDisk(new Random(1), image) { MapsSeeWrites = true };
        StorageEnvironment? environment = null;
        try
        {
            environment = StorageEnvironment.Open(
                new World(disk, new SimulatedClock(), new Random(7), IsBackgroundAllowed: false), scenario.OptionsWith(0));
            using (ReadTransaction read = environment.BeginRead())
            {
                // A damaged last frame cannot be distinguished from a truncated one. An environment without a journal may
                // fall back to its other meta page.
                long oldest = durability == Durability.Durable ? history.Last - 1 : history.First;
                if (read.TransactionId < oldest || read.TransactionId > history.Last)
                    throw new TortureFailure(
                        $"With a wrong bit ({what}) transaction {read.TransactionId} is found, {oldest} to {history.Last} were "
                            + $"there.");
                if (history.At(read.TransactionId).Difference(read) is { } difference)
                    throw new TortureFailure($"With a wrong bit ({what}) something else is read: {difference}.");
            }

            environment.Check();
        }
        catch (StorageException)
        {
            // The damage is reported, as it must be.
        }
        catch (Exception error) when (error is not TortureFailure)
        {
            throw new TortureFailure(
                $"With a wrong bit ({what}): {error.GetType().Name}: {error.Message}", error.ToString().Split('\n'), error);
        }
        finally
        {
            disk.PowerOff();
            environment?.Dispose();
        }
    }

    private Scenario Begin(Durability durability, int kind, bool isEncrypted) =>
        _bases.Begin(
            new Scenario
            {
                Seed = 1,
                Clients = [[]],
                IsEncrypted = isEncrypted,
                Options = Scenario.SmallOptions with { Durability = durability }
            },
            kind);
}

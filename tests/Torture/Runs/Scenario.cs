using Treepie.Storage;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <summary>Everything that determines a run: equal scenarios give equal runs.</summary>
internal sealed record Scenario
{
    /// <summary>Size of a journal file in which the ways to write it can be timed.</summary>
    private const long ProbedFileBytes = 32 << 10;

    /// <summary>Seed of ids, salts, crash outcomes, and the interleaving of clients.</summary>
    public required int Seed { get; init; }

    /// <summary>The steps of each client. A single client runs without other threads.</summary>
    public required IReadOnlyList<IReadOnlyList<Step>> Clients { get; init; }

    /// <summary>The disk at the beginning.</summary>
    public DiskImage Start { get; init; } = DiskImage.Empty;

    /// <summary>The content of that disk.</summary>
    public Model StartModel { get; init; } = Model.Empty;

    /// <summary>The last transaction on that disk.</summary>
    public long StartTransaction { get; init; }

    public StorageOptions Options { get; init; } = SmallOptions;

    /// <summary>Whether the environment is encrypted, with <see cref="UserKeys"/>.</summary>
    public bool IsEncrypted { get; init; }

    /// <summary>Whether maps show writes at once, as on Linux.</summary>
    public bool MapsSeeWrites { get; init; }

    /// <summary>
    /// Whether files grow by writing zeros, as on file systems without fallocate: in every fourth run.
    /// </summary>
    public bool RefusesAllocation => (Seed & 3) == 3;

    /// <summary>Whether frames are written directly, bypassing the system's cache, as on most real disks.</summary>
    public bool WritesDirectly { get; init; }

    /// <summary>Whether checkpoints and other background work run on threads that the seed interleaves.</summary>
    public bool HasThreads { get; init; }

    /// <summary>Whether the scrub verifies pages on the disk now and then. It must find nothing.</summary>
    public bool IsScrubbed { get; init; }

    /// <summary>The calls that fail.</summary>
    public DiskFault? Fault { get; init; }

    /// <summary>
    /// Number of pages that a bitmap page covers: small, so that a second bitmap page is common, or as in the format.
    /// </summary>
    public int PagesPerBitmap { get; init; } = FormatLimits.PagesPerBitmap;

    /// <summary>Every second seed uses small groups, if the run begins with a new environment.</summary>
    public static int GroupOf(int seed) => seed % 2 == 0 ? 64 : FormatLimits.PagesPerBitmap;

    /// <summary>Capacity of the disk in bytes.</summary>
    public long CapacityBytes { get; init; } = long.MaxValue;

    /// <summary>The options, with one of the user keys if the environment is encrypted.</summary>
    public StorageOptions OptionsWith(int key)
    {
        StorageOptions options = WritesDirectly
            ? Options with
            {
                FirstJournalFileBytes = Math.Max(Options.FirstJournalFileBytes, ProbedFileBytes),
                MaxJournalFileBytes = Math.Max(Options.MaxJournalFileBytes, ProbedFileBytes),
            }
            : Options;
        return IsEncrypted ? options with { EncryptionKey = UserKeys.Of(key) } : options;
    }

    /// <summary>Small sizes, so that journal files change and checkpoints run all the time.</summary>
    public static StorageOptions SmallOptions { get; } = new()
    {
        MaxDataFileBytes = 64 << 20,
        FirstReserveBytes = 256 << 10, // so that most files grow beyond it
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 1 << 20,
        MemoryBudgetBytes = 1 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 64 << 10,
        DecryptedBudgetBytes = 1 << 20,
    };

    /// <summary>Creates the disk for the run.</summary>
    /// <param name="random">Determines what happens to unsynced data.</param>
    /// <param name="clock">The clock.</param>
    /// <param name="acting">Called before each operation.</param>
    /// <param name="story">Where operations are logged, or null.</param>
    public SimulatedDisk MakeDisk(
        Random random, SimulatedClock clock, Action<DiskOperation, string> acting, List<string>? story) => new(random, Start)
        {
            DirectClock = WritesDirectly ? clock : null,
            MapsSeeWrites = MapsSeeWrites,
            RefusesAllocation = RefusesAllocation,
            CapacityBytes = CapacityBytes,
            Fault = Fault,
            Acting = acting,
            Story = story,
        };

    /// <summary>Describes the scenario in lines.</summary>
    public IEnumerable<string> Tell()
    {
        yield return $"{Options.Durability}{(IsEncrypted ? " encrypted" : "")} environment, "
        + $"{(StartTransaction == 0 ? "new" : $"with {StartTransaction} transactions")}, maps "
        + $"{(MapsSeeWrites ? "see" : "do not see")} writes{(RefusesAllocation ? ", no blocks ahead" : "")}{(WritesDirectly ? ", past the cache" : "")}"
            + $"{(HasThreads ? ", with threads" : "")}"
            + $"{(PagesPerBitmap < FormatLimits.PagesPerBitmap ? $", {PagesPerBitmap} pages to a bitmap page" : "")}"
            + $"{(CapacityBytes < long.MaxValue ? $", disk of {CapacityBytes} bytes" : "")}{(Fault is null ? "" : $", {Fault}")}";
        for (int client = 0; client < Clients.Count; client++)
            foreach (Step step in Clients[client])
                yield return Clients.Count == 1 ? $"  {step}" : $"  client {client}: {step}";
    }
}

using Treepie.Storage;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <summary>All that a run follows from: the same scenario gives the same run.</summary>
internal sealed record Scenario
{
    /// <summary>A journal file in which the ways to write it can be timed.</summary>
    private const long ProbedFileBytes = 32 << 10;

    /// <summary>Draws ids, salts, what crashes leave, and the order of clients.</summary>
    public required int Seed { get; init; }

    /// <summary>What each client does; one client runs without other threads.</summary>
    public required IReadOnlyList<IReadOnlyList<Step>> Clients { get; init; }

    /// <summary>The disk at the beginning.</summary>
    public DiskImage Start { get; init; } = DiskImage.Empty;

    /// <summary>What is on it.</summary>
    public Model StartModel { get; init; } = Model.Empty;

    /// <summary>Its last transaction.</summary>
    public long StartTransaction { get; init; }

    public StorageOptions Options { get; init; } = SmallOptions;

    /// <summary>Whether the environment is encrypted, with <see cref="UserKeys"/>.</summary>
    public bool IsEncrypted { get; init; }

    /// <summary>Whether maps show what is written, as on Linux.</summary>
    public bool MapsSeeWrites { get; init; }

    /// <summary>
    /// Whether files grow by zeros that are written, as on file systems without fallocate: in every fourth run.
    /// </summary>
    public bool RefusesAllocation => (Seed & 3) == 3;

    /// <summary>Whether frames are written past the system's cache, as on most real disks.</summary>
    public bool WritesDirectly { get; init; }

    /// <summary>Whether checkpoints and the like run on threads of their own, which the seed interleaves.</summary>
    public bool HasThreads { get; init; }

    /// <summary>Whether pages are read again from the disk now and then, which must find nothing.</summary>
    public bool IsScrubbed { get; init; }

    /// <summary>A call that fails.</summary>
    public DiskFault? Fault { get; init; }

    /// <summary>
    /// Pages that a bitmap page covers: few, so that a second bitmap page is common, or as many as the format has.
    /// </summary>
    public int PagesPerBitmap { get; init; } = FormatLimits.PagesPerBitmap;

    /// <summary>Of runs that the seed draws every other one has small groups, where it begins with a new environment.</summary>
    public static int GroupOf(int seed) => seed % 2 == 0 ? 64 : FormatLimits.PagesPerBitmap;

    /// <summary>Room on the disk.</summary>
    public long CapacityBytes { get; init; } = long.MaxValue;

    /// <summary>The options with one of the users' keys, where the environment is encrypted.</summary>
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

    /// <summary>Small, so that files change and checkpoints run all the time.</summary>
    public static StorageOptions SmallOptions { get; } = new()
    {
        MaxDataFileBytes = 64 << 20,
        FirstReserveBytes = 256 << 10, // so that most files grow over it
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 1 << 20,
        MemoryBudgetBytes = 1 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 64 << 10,
        DecryptedBudgetBytes = 1 << 20,
    };

    /// <summary>The disk that it runs on.</summary>
    /// <param name="random">What the disk does with what is not synced.</param>
    /// <param name="clock">Its time.</param>
    /// <param name="acting">Told before each operation.</param>
    /// <param name="story">Where operations are written down, or null.</param>
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

    /// <summary>The scenario in lines.</summary>
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

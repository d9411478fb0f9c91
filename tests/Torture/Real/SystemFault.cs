namespace Treepie.Torture.Real;

/// <summary>Something that a system may do to the engine: which calls it refuses, and what may come of it.</summary>
/// <param name="Name">Its name in reports.</param>
/// <param name="Outcome">What clients may see.</param>
/// <param name="Calls">
/// The calls refused, given the descriptors of the data file; without one, none for a fault of that file.
/// </param>
internal sealed record SystemFault(string Name, FaultOutcome Outcome, Func<IReadOnlyList<int>, IReadOnlyList<RefusedCall>> Calls)
{
    private const int Io = 5;
    private const int NoMemory = 12;
    private const int BadAddress = 14;
    private const int Invalid = 22;
    private const int NoSpace = 28;
    private const int ReadOnly = 30;
    private const int NoSuchCall = 38;
    private const int Unsupported = 95;
    private const int Quota = 122;

    private const uint Shared = 0x01;
    private const uint Fixed = 0x10;
    private const uint Anonymous = 0x20;
    private const uint NoReserve = 0x4000;
    private const uint ReadAndWrite = 3;
    private const uint CreateFlag = 0x40;
    private const uint PopulateRead = 22;

    /// <summary>The kinds of advice that the engine gives and the runtime does not.</summary>
    private static readonly uint[] _advice = [1, 3, 14, 18, PopulateRead, 24];

    /// <summary>All faults; a piece has the one of its number.</summary>
    public static IReadOnlyList<SystemFault> All { get; } =
    [
        new("fallocate: the disk is full", FaultOutcome.Full, _ => [new("fallocate", NoSpace)]),
        new("fallocate: the quota is used up", FaultOutcome.Full, _ => [new("fallocate", Quota)]),
        new("fallocate: not to be had", FaultOutcome.Nothing, _ => [new("fallocate", Unsupported)]),
        new("fallocate: the disk fails", FaultOutcome.NoCheckpoint, _ => [new("fallocate", Io)]),
        Sync(Io),
        Sync(NoSpace),
        Sync(Invalid),
        Sync(ReadOnly),
        Sync(Unsupported),
        new(
            "sync of the data file", FaultOutcome.NoCheckpoint,
            data => [.. data.Select(file => new RefusedCall("fdatasync", Io, Is(file)))]),
        new("pwrite: the disk fails", FaultOutcome.Stop, _ => [new("pwrite64", Io), new("pwritev", Io)])
        {
            StopsEverything = true
        },
        new("pwrite: the disk is full", FaultOutcome.Stop, _ => [new("pwrite64", NoSpace), new("pwritev", NoSpace)])
        {
            StopsEverything = true
        },
        new("pwrite: a bad region", FaultOutcome.Stop, _ => [new("pwrite64", Io, new ArgumentTest(3, 0x8000, 0x8000))]),
        new(
            "pwrite of the data file", FaultOutcome.NoCheckpoint,
            data =>
            [
                .. data.Select(file => new RefusedCall("pwrite64", Io, Is(file))),
                .. data.Select(file => new RefusedCall("pwritev", Io, Is(file))),
            ]),
        new("write-back of memory over its budget", FaultOutcome.Stop, _ => [new("sync_file_range", Io)]),
        new("sync_file_range: not to be had", FaultOutcome.Nothing, _ => [new("sync_file_range", NoSuchCall)]),
        new("ftruncate: the disk fails", FaultOutcome.Nothing, _ => [new("ftruncate", Io)]),
        new(
            "open: no room for a new file", FaultOutcome.Full,
            _ => [new("openat", NoSpace, new ArgumentTest(2, CreateFlag, CreateFlag))]),
        new(
            "mmap: no file for memory over its budget", FaultOutcome.Nothing,
            _ =>
            [
                new(
                    "mmap", NoMemory, new ArgumentTest(3, Shared | Fixed | Anonymous, Shared | Fixed),
                    new ArgumentTest(2, ~0u, ReadAndWrite)),
            ]),
        new(
            "populate: an old kernel", FaultOutcome.Nothing,
            _ => [new("madvise", Invalid, new ArgumentTest(2, ~0u, PopulateRead))]),
        new(
            "populate: the disk fails", FaultOutcome.Unreadable,
            _ => [new("madvise", BadAddress, new ArgumentTest(2, ~0u, PopulateRead))]),
        Pages(16 << 10),
        Pages(64 << 10),
    ];

    /// <summary>Whether no write can become durable.</summary>
    public bool StopsEverything { get; init; }

    /// <summary>Whether no write can become durable that needs a sync.</summary>
    public bool StopsSyncs { get; init; }

    /// <summary>The size of a system page, or 0 for the machine's.</summary>
    public int PageBytes { get; init; }

    private static ArgumentTest Is(int descriptor) => new(0, ~0u, (uint)descriptor);

    private static SystemFault Sync(int error) =>
        new($"sync: error {error}", FaultOutcome.Stop, _ => [new("fdatasync", error), new("fsync", error)])
        {
            StopsSyncs = true
        };

    /// <summary>
    /// A machine with larger pages: the engine is told their size, and the system refuses addresses and offsets that are no
    /// multiple of it.
    /// </summary>
    private static SystemFault Pages(int bytes)
    {
        uint inside = (uint)bytes - 1;
        var isFile = new ArgumentTest(3, Shared | Anonymous, Shared);
        return new SystemFault(
            $"system pages of {bytes >> 10} KiB", FaultOutcome.Nothing,
            _ =>
            [
                new("mmap", Invalid, isFile, new ArgumentTest(5, inside, 0, IsEqual: false)),
                new("mmap", Invalid, isFile, new ArgumentTest(3, Fixed, Fixed), new ArgumentTest(0, inside, 0, IsEqual: false)),
                new(
                    "mmap", Invalid, new ArgumentTest(3, Fixed | NoReserve, Fixed | NoReserve),
                    new ArgumentTest(0, inside, 0, IsEqual: false)),
                new("mincore", Invalid, new ArgumentTest(0, inside, 0, IsEqual: false)),
                .. _advice.Select(
                    advice => new RefusedCall(
                        "madvise", Invalid, new ArgumentTest(2, ~0u, advice), new ArgumentTest(0, inside, 0, IsEqual: false))),
            ])
        {
            PageBytes = bytes
        };
    }
}

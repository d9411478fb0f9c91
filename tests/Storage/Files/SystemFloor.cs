using Microsoft.Win32.SafeHandles;
using Treepie.Storage.Files;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Tests.Files;

/// <summary>
/// Lets the system calls of this machine behave as those of another machine or file system: with larger pages (and as strict
/// about them as a kernel), without fallocate, without locks.
/// </summary>
internal sealed class SystemFloor : SystemCalls
{
    private const int NotSupported = 95;
    private const int NoLocks = 37;
    private const int Invalid = 22;
    private const int NoMemory = 12;
    private const int AdviseRandom = 1;
    private const int AdviseDontNeed = 4;
    private const int AdviseDontNeedLocked = 24;
    private const int AdvisePopulateRead = 22;

    /// <summary>Whether fallocate fails.</summary>
    public bool RefusesAllocation { get; init; }

    /// <summary>Whether no file can be opened past the system's cache.</summary>
    public bool RefusesDirect { get; init; }

    /// <summary>Whether locks fail.</summary>
    public bool RefusesLocks { get; init; }

    /// <summary>Whether every lock is granted to everybody.</summary>
    public bool GrantsAllLocks { get; init; }

    /// <summary>Whether the kernel is too old to load mapped pages by advice.</summary>
    public bool IsOldKernel { get; init; }

    /// <summary>Maximum size of a mapping. Larger ones fail as if no addresses were left.</summary>
    public long MostBytes { get; init; } = long.MaxValue;

    /// <summary>The name of the file system, or null for the real one.</summary>
    public string? FileSystem { get; init; }

    /// <summary>The error that the system reports for pages of a file that it wrote out by itself, or 0.</summary>
    public int WriteError { get; set; }

    /// <summary>Calls that violated the page alignment.</summary>
    public List<string> Misaligned { get; } = [];

    /// <summary>Lengths of the ranges for which read-around was disabled.</summary>
    public List<long> NotReadAround { get; } = [];

    /// <summary>The error of syncing a directory by its path; null for none.</summary>
    public Func<string, int>? DirectoryError { get; init; }

    /// <summary>How often contents of memory were discarded.</summary>
    public int Discards { get; private set; }

    /// <summary>Directories that were synced, in order.</summary>
    public List<string> SyncedDirectories { get; } = [];

    /// <summary>Page size in bytes.</summary>
    public int Page { get; init; } = Environment.SystemPageSize;

    /// <summary>Whether the machine is big-endian.</summary>
    public bool IsBigEndian { get; init; }

    public override int PageBytes => Page;

    public override bool IsLittleEndian => !IsBigEndian;

    /// <summary>The world of a directory with these system calls.</summary>
    public World World(string directory, bool allowMissingLocks = false) =>
        new(
            new DiskFileSystem(directory, allowMissingLocks, this), TimeProvider.System, new Random(1),
            IsBackgroundAllowed: true);

    public override string NameFileSystem(string path) => FileSystem ?? base.NameFileSystem(path);

    public override int SyncDirectory(string path)
    {
        SyncedDirectories.Add(path);
        return DirectoryError?.Invoke(path) is { } error and not 0 ? error : base.SyncDirectory(path);
    }

    public override int FindWriteError(SafeFileHandle file) => WriteError != 0 ? WriteError : base.FindWriteError(file);

    public override int Allocate(SafeFileHandle file, long offset, long lengthBytes) =>
        RefusesAllocation ? NotSupported : base.Allocate(file, offset, lengthBytes);

    public override SafeFileHandle? OpenDirect(string path) => RefusesDirect ? null : base.OpenDirect(path);

    public override SafeFileHandle? OpenDirectForReading(string path) =>
        RefusesDirect ? null : base.OpenDirectForReading(path);

    public override int LockFile(SafeFileHandle file, bool shared) =>
        GrantsAllLocks ? 0 : RefusesLocks ? NoLocks : base.LockFile(file, shared);

    public override int LockByte(SafeFileHandle file, long offset, bool shared, bool asks = false) =>
        GrantsAllLocks ? 0 : RefusesLocks ? NoLocks : base.LockByte(file, offset, shared, asks);

    public override int Map(
        nint address, long lengthBytes, int protection, int flags, SafeFileHandle? file, long offset, out nint mapped)
    {
        mapped = -1;
        if (lengthBytes > MostBytes)
            return NoMemory;
        if (address % Page != 0 || offset % Page != 0)
            return Refuse($"map {offset} of {lengthBytes} bytes");
        if (address != 0)
            return base.Map(address, RoundUp(lengthBytes), protection, flags, file, offset, out mapped);

        // If the system chooses the address, it is page-aligned.
        int error = base.Map(0, RoundUp(lengthBytes) + Page, protection, flags, file, offset, out nint wide);
        if (error != 0)
            return error;
        mapped = (nint)RoundUp(wide);
        if (mapped > wide)
            _ = base.Unmap(wide, mapped - wide);
        if (file is not null && mapped > wide)
            throw new InvalidOperationException("A file is mapped at a place that was reserved.");
        return 0;
    }

    public override int Unmap(nint address, long lengthBytes) =>
        address % Page != 0 ? Refuse($"unmap {lengthBytes}") : base.Unmap(address, RoundUp(lengthBytes));

    public override int Protect(nint address, long lengthBytes, int protection) =>
        address % Page != 0 ? Refuse($"protect {lengthBytes}") : base.Protect(address, RoundUp(lengthBytes), protection);

    public override int Advise(nint address, long lengthBytes, int advice)
    {
        if (address % Page != 0)
            return Refuse($"advice {advice} about {lengthBytes}");
        if (advice == AdvisePopulateRead && IsOldKernel)
            return Invalid;

        if (advice == AdviseRandom)
            lock (NotReadAround)
                NotReadAround.Add(lengthBytes);

        // A kernel rounds the length of a discard up, and what is discarded by mistake is discarded here too. Other advice
        // is limited to the requested range.
        bool isDiscard = advice is AdviseDontNeed or AdviseDontNeedLocked;
        Discards += isDiscard ? 1 : 0;
        return base.Advise(address, isDiscard ? RoundUp(lengthBytes) : lengthBytes, advice);
    }

    public override int FindResident(nint address, long lengthBytes, Span<byte> resident)
    {
        if (address % Page != 0)
            return Refuse($"resident {lengthBytes}");

        int real = Environment.SystemPageSize;
        var bits = new byte[(lengthBytes + real - 1) / real];
        int error = base.FindResident(address, lengthBytes, bits);
        resident[..(int)((lengthBytes + Page - 1) / Page)].Fill(1);
        for (int i = 0; i < bits.Length; i++)
            resident[(int)((long)i * real / Page)] &= bits[i];
        return error;
    }

    public override int LockMemory(nint address, long lengthBytes, uint flags) =>
        address % Page != 0 ? Refuse($"lock {lengthBytes}") : base.LockMemory(address, RoundUp(lengthBytes), flags);

    private long RoundUp(long value) => (value + Page - 1) / Page * Page;

    private int Refuse(string what)
    {
        lock (Misaligned)
            Misaligned.Add(what);
        return Invalid;
    }
}

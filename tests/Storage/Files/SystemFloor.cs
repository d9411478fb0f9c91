using Microsoft.Win32.SafeHandles;
using Treepie.Storage.Files;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Tests.Files;

/// <summary>
/// The calls of this machine as another machine, or another file system, answers them: with larger pages (and as strict about
/// them as a kernel), without fallocate, without locks.
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

    /// <summary>Whether fallocate is refused.</summary>
    public bool RefusesAllocation { get; init; }

    /// <summary>Whether no file can be opened past the system's cache.</summary>
    public bool RefusesDirect { get; init; }

    /// <summary>Whether locks are refused.</summary>
    public bool RefusesLocks { get; init; }

    /// <summary>Whether everybody gets every lock.</summary>
    public bool GrantsAllLocks { get; init; }

    /// <summary>Whether the kernel is too old to bring mapped pages into memory by advice.</summary>
    public bool IsOldKernel { get; init; }

    /// <summary>Most bytes of a mapping; larger ones are refused as where no addresses are left.</summary>
    public long MostBytes { get; init; } = long.MaxValue;

    /// <summary>Calls that broke a rule of the pages.</summary>
    public List<string> Misaligned { get; } = [];

    /// <summary>Lengths of the parts that the system was told not to read around.</summary>
    public List<long> NotReadAround { get; } = [];

    /// <summary>Bytes of a page.</summary>
    public int Page { get; init; } = Environment.SystemPageSize;

    /// <summary>Whether numbers lie in memory the other way round than in files.</summary>
    public bool IsBigEndian { get; init; }

    public override int PageBytes => Page;

    public override bool IsLittleEndian => !IsBigEndian;

    /// <summary>The world of a directory, on this floor.</summary>
    public World World(string directory, bool allowMissingLocks = false) =>
        new(
            new DiskFileSystem(directory, allowMissingLocks, this), TimeProvider.System, new Random(1),
            IsBackgroundAllowed: true);

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

        // Where the system chooses the place it is one that begins a page.
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

        // A kernel rounds the length up: what is given back by mistake is given back here too. Nothing else is touched by more
        // than was asked for.
        bool isDiscard = advice is AdviseDontNeed or AdviseDontNeedLocked;
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

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;
using Microsoft.Win32.SafeHandles;

namespace Treepie.Storage.Memory;

/// <summary>
/// A stretch of address space, reserved once and never moved. It costs no memory until parts of it are committed, so a
/// table or a map inside it can grow without any pointer into it going stale. Offsets are bytes from its start.
/// </summary>
/// <remarks>
/// All that is unsafe about memory is here: the other rooms see spans, whose bounds are checked. Accessors check their
/// offset against <see cref="Length"/>, never against what is committed: touching uncommitted addresses ends the
/// process, so owners commit before they hand out a position.
/// </remarks>
internal sealed unsafe class AddressRange : IDisposable
{
    private const int LineBytes = 64;

    // Beside the length, so that what is asked for most is checked with one comparison.
    private readonly long _words;
    private readonly long _lastLine;
    private byte* _start;

    private AddressRange(byte* start, long length)
    {
        _start = start;
        Length = length;
        _words = length / sizeof(ulong);
        _lastLine = Math.Max(0, length - LineBytes);
    }

    ~AddressRange() => Free();

    /// <summary>Bytes reserved.</summary>
    public long Length { get; }

    /// <summary>A large page of the processor; on Linux every range begins at a multiple of it.</summary>
    public const long AlignmentBytes = 2 << 20;

    /// <summary>Reserves addresses; throws <see cref="StorageException"/> where the system has none left.</summary>
    public static AddressRange Reserve(long lengthBytes)
    {
        byte* start = OperatingSystem.IsWindows() ? WindowsMemory.Reserve(lengthBytes) : UnixMemory.Reserve(lengthBytes);
        if (start == null)
            throw new StorageException($"{lengthBytes >> 20} MiB of address space cannot be reserved; raise the process limit (ulimit -v) or lower StorageOptions.MaxDataFileBytes.");

        return new AddressRange(start, lengthBytes);
    }

    /// <summary>Makes a part readable and writable; new memory is zero.</summary>
    public void Commit(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        bool done = OperatingSystem.IsWindows()
            ? WindowsMemory.Commit(_start + offset, lengthBytes)
            : UnixMemory.Commit(_start + offset, lengthBytes);
        if (!done)
            throw new StorageException($"The system gave no memory ({lengthBytes} bytes); close other programs or lower the scratch budget.");
    }

    /// <summary>Asks for huge pages behind a part, which random reads find in half the time; where the system has none, nothing changes.</summary>
    public void PreferHugePages(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (!OperatingSystem.IsWindows())
            UnixMemory.PreferHugePages(_start + offset, lengthBytes);
    }

    /// <summary>Gives the memory of a committed part back to the system; it reads as zero or unchanged afterwards and stays committed.</summary>
    public void Discard(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (!OperatingSystem.IsWindows())
            UnixMemory.Discard(_start + offset, lengthBytes);
    }

    /// <summary>Keeps a part out of core dumps, and out of processes that are forked off, where the system knows how.</summary>
    public void ExcludeFromDumps(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (OperatingSystem.IsLinux())
            UnixMemory.ExcludeFromDumps(_start + offset, lengthBytes);
    }

    /// <summary>Keeps what a part holds, now or later, out of swap; false where the system refuses, by a limit mostly (ulimit -l).</summary>
    public bool TryLock(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        return OperatingSystem.IsWindows() ? WindowsMemory.TryLock(_start + offset, lengthBytes) : UnixMemory.TryLock(_start + offset, lengthBytes);
    }

    /// <summary>As <see cref="Discard"/>, for a part that may be locked.</summary>
    public void DiscardLocked(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (!OperatingSystem.IsWindows())
            UnixMemory.DiscardLocked(_start + offset, lengthBytes);
    }

    /// <summary>Maps a part of a file, for reading only, over the same part of this range.</summary>
    public void MapFile(SafeFileHandle file, long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        int error = UnixMemory.MapFile(_start + offset, file, offset, lengthBytes);
        if (error != 0)
            throw new StorageException($"The data file cannot be mapped into memory (error {error}: {Marshal.GetPInvokeErrorMessage(error)}).");
    }

    /// <summary>Brings mapped pages into memory; false where the disk could not deliver them.</summary>
    public bool Populate(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        return UnixMemory.Populate(_start + offset, lengthBytes);
    }

    /// <summary>Begins to bring mapped pages into memory, where the system knows how; waits for nothing.</summary>
    public void BeginPopulate(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (!OperatingSystem.IsWindows())
            UnixMemory.BeginLoad(_start + offset, lengthBytes);
    }

    /// <summary>The bytes at an offset.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Span(long offset, int lengthBytes)
    {
        Check(offset, lengthBytes);
        return new Span<byte>(_start + offset, lengthBytes);
    }

    /// <summary>The 32-bit number at an index, read so that what was written before it was stored is seen.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public uint ReadUInt32(long index)
    {
        Check(index * sizeof(uint), sizeof(uint));
        return Volatile.Read(ref *((uint*)_start + index));
    }

    /// <summary>Stores a 32-bit number after all that was written before.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt32(long index, uint value)
    {
        Check(index * sizeof(uint), sizeof(uint));
        Volatile.Write(ref *((uint*)_start + index), value);
    }

    /// <summary>The 64 bytes at an offset.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Line(long offset)
    {
        if ((ulong)offset > (ulong)_lastLine)
            ThrowOutside(offset, LineBytes);
        return new Span<byte>(_start + offset, LineBytes);
    }

    /// <summary>The place of the 64-bit number at an index, for who reads it more than once.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ref ulong Word(long index)
    {
        if ((ulong)index >= (ulong)_words)
            ThrowOutside(index * sizeof(ulong), sizeof(ulong));
        return ref *((ulong*)_start + index);
    }

    /// <summary>The 64-bit number at an index, read so that what was written before it was stored is seen.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong ReadUInt64(long index)
    {
        return Volatile.Read(ref Word(index));
    }

    /// <summary>Stores a 64-bit number after all that was written before.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteUInt64(long index, ulong value)
    {
        Volatile.Write(ref Word(index), value);
    }

    /// <summary>Stores a 64-bit number if another is there now; false if not.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryExchange(long index, ulong expected, ulong value)
    {
        return Interlocked.CompareExchange(ref Word(index), value, expected) == expected;
    }

    /// <summary>Starts to bring the cache line at an offset near, without waiting for it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Prefetch(long offset)
    {
        Check(offset, 1);
        if (Sse.IsSupported)
            Sse.Prefetch0(_start + offset);
    }

    /// <summary>The first offset that is a multiple of an alignment as an address.</summary>
    public long FirstAligned(long alignmentBytes) => (alignmentBytes - ((long)_start % alignmentBytes)) % alignmentBytes;

    /// <summary>Asks the system for large pages: one entry of the processor's address cache then covers 2 MiB instead of 4 KiB.</summary>
    public void AdviseLargePages(long offset, long lengthBytes)
    {
        Check(offset, lengthBytes);
        if (OperatingSystem.IsLinux())
            UnixMemory.AdviseLargePages(_start + offset, lengthBytes);
    }

    public void Dispose()
    {
        Free();
        GC.SuppressFinalize(this);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Check(long offset, long lengthBytes)
    {
        if ((ulong)offset > (ulong)Length || lengthBytes > Length - offset)
            ThrowOutside(offset, lengthBytes);
    }

    private void ThrowOutside(long offset, long lengthBytes) =>
        throw new InvalidOperationException($"{lengthBytes} bytes at {offset} lie outside a range of {Length} bytes.");

    private void Free()
    {
        byte* start = _start;
        _start = null;
        if (start == null)
            return;

        if (OperatingSystem.IsWindows())
            WindowsMemory.Free(start);
        else
            UnixMemory.Free(start, Length);
    }
}

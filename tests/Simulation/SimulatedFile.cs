using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Treepie.Storage.Files;

namespace Treepie.Storage.Simulation;

/// <summary>An open file of a simulated disk.</summary>
internal sealed class SimulatedFile(SimulatedDisk disk, string name, SimulatedInode inode) : IFile
{
    /// <summary>Alignment of offset, length and address of direct calls.</summary>
    private const int AlignmentBytes = 4096;

    private static readonly TimeSpan _syncTime = TimeSpan.FromTicks(1);

    private bool _isDirect;

    public string Name => name;

    public long Length => inode.Current.Length;

    public SimulatedInode Inode => inode;

    public int Read(Span<byte> destination, long offset)
    {
        disk.Step(DiskOperation.Read, name, offset, destination.Length);
        return inode.Current.Read(destination, offset);
    }

    public bool ReadsPastCache { get; private set; }

    public int ReadPastCache(Span<byte> destination, long offset)
    {
        RequireAligned(destination, offset);
        ReadsPastCache = true;
        return Read(destination, offset);
    }

    public bool TryWriteDirectly(bool isDirect)
    {
        if (isDirect && disk.DirectClock is null)
            return false;

        _isDirect = isDirect;
        return true;
    }

    /// <summary>Writes durably. A direct write makes these bytes durable, and nothing written through the cache.</summary>
    public void WriteDurable(ReadOnlySpan<byte> source, long offset)
    {
        if (!_isDirect)
        {
            Write(source, offset);
            Sync();
            disk.DirectClock?.Spend(_syncTime);
            return;
        }

        RequireAligned(source, offset);
        Write(source, offset);
        try
        {
            disk.Step(DiskOperation.Sync, name, offset, source.Length);
        }
        catch when (disk.ForgetsDirty)
        {
            inode.ForgetDirty(offset, source.Length);
            throw;
        }

        inode.Sync(source, offset);
    }

    public void Write(ReadOnlySpan<byte> source, long offset)
    {
        disk.CheckRoom(offset + source.Length - inode.Current.Length);
        if (disk.IsAboutToCrash)
            inode.Write(source, offset, disk.Operations); // the power fails during the write
        disk.Step(DiskOperation.Write, name, offset, source.Length);
        inode.Write(source, offset, disk.Operations);
    }

    public void Sync()
    {
        try
        {
            disk.Step(DiskOperation.Sync, name);
        }
        catch when (disk.ForgetsDirty)
        {
            inode.ForgetDirty();
            throw;
        }

        inode.Sync();
    }

    public bool TryAllocate(long offset, long lengthBytes)
    {
        if (disk.RefusesAllocation)
            return false;

        disk.CheckRoom(offset + lengthBytes - inode.Current.Length);
        disk.Step(DiskOperation.Allocate, name, offset + lengthBytes);
        inode.SetLength(Math.Max(inode.Current.Length, offset + lengthBytes));
        return true;
    }

    public void Truncate(long lengthBytes)
    {
        if (lengthBytes >= inode.Current.Length)
            return;

        disk.Step(DiskOperation.Truncate, name, lengthBytes);
        inode.SetLength(lengthBytes);
    }

    public void Dispose()
    {
    }

    private void RequireAligned(ReadOnlySpan<byte> bytes, long offset)
    {
        nint address = Unsafe.ByteOffset(ref Unsafe.NullRef<byte>(), ref MemoryMarshal.GetReference(bytes));
        if (offset % AlignmentBytes != 0 || bytes.Length % AlignmentBytes != 0 || address % AlignmentBytes != 0)
            throw new InvalidOperationException(
                $"A call past the cache for {bytes.Length} bytes at {offset} of '{name}', memory at {address:x}, is not aligned "
                    + $"to {AlignmentBytes} bytes.");
    }
}

using Treepie.Storage.Files;

namespace Treepie.Storage.Simulation;

/// <summary>An open file of a simulated disk.</summary>
internal sealed class SimulatedFile(SimulatedDisk disk, string name, SimulatedInode inode) : IFile
{
    public string Name => name;

    public long Length => inode.Current.Length;

    public SimulatedInode Inode => inode;

    public int Read(Span<byte> destination, long offset)
    {
        disk.Step(DiskOperation.Read, name, offset, destination.Length);
        return inode.Current.Read(destination, offset);
    }

    public void Write(ReadOnlySpan<byte> source, long offset)
    {
        disk.CheckRoom(offset + source.Length - inode.Current.Length);
        if (disk.IsAboutToCrash)
            inode.Write(source, offset, disk.Operations); // the power fails while it is under way
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
}

using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Simulation;

/// <summary>
/// A mapped file of a simulated disk. Writes to the file become visible at once, as in a real mapping, or only when loaded, as on
/// systems without mapping.
/// </summary>
internal sealed class SimulatedMap : IFileMap
{
    private const long CommitStepBytes = 1 << 20;

    private readonly SimulatedDisk _disk;
    private readonly SimulatedInode _inode;
    private readonly string _name;
    private readonly HashSet<long> _evicted = [];
    private long _committedBytes;
    private bool _isFollower;

    public SimulatedMap(SimulatedDisk disk, SimulatedInode inode, string name, long reserveBytes, bool seesWrites)
    {
        _disk = disk;
        _inode = inode;
        _name = name;
        SeesWrites = seesWrites;
        Range = AddressRange.Reserve(reserveBytes);
        if (!seesWrites)
            return;

        _isFollower = inode.IsMapped;
        inode.Attach(this);
    }

    public AddressRange Range { get; }

    public bool SeesWrites { get; }

    public void Grow(long lengthBytes)
    {
        if (lengthBytes <= _committedBytes)
            return;

        long end = Math.Min((lengthBytes + CommitStepBytes - 1) / CommitStepBytes * CommitStepBytes, Range.Length);
        Range.Commit(_committedBytes, end - _committedBytes);
        _committedBytes = end;
        if (_isFollower)
            ShowWritten();
    }

    /// <summary>Verifies that the advice is for a range within the file. It has no effect here.</summary>
    public void Announce(long offset, long lengthBytes)
    {
        if (offset < 0 || lengthBytes < 0 || offset + lengthBytes > _inode.Current.Length)
            throw new InvalidOperationException(
                $"Advice for {lengthBytes} bytes at {offset} of '{_name}', which has {_inode.Current.Length}.");
    }

    public bool Load(long offset, long lengthBytes)
    {
        try
        {
            _disk.Step(DiskOperation.Load, _name, offset, lengthBytes);
        }
        catch (Exception error) when (error is IOException or StorageException)
        {
            return false;
        }

        for (long page = offset / PageLayout.SizeBytes; page * PageLayout.SizeBytes < offset + lengthBytes; page++)
            _evicted.Remove(page);
        return _inode.Current.Read(Range.Span(offset, (int)lengthBytes), offset) == lengthBytes;
    }

    public bool TryFindResident(long offset, Span<byte> resident)
    {
        for (int i = 0; i < resident.Length; i++)
            resident[i] = _evicted.Contains((offset / PageLayout.SizeBytes) + i) ? (byte)0 : (byte)1;
        return true;
    }

    /// <summary>Evicts all pages from memory. The next access to a page reads what the disk has then.</summary>
    public void Evict()
    {
        long length = Math.Min(_committedBytes, _inode.Current.Length);
        _inode.Current.Read(Range.Span(0, (int)length), 0);
        for (long page = 0; page * PageLayout.SizeBytes < length; page++)
            _evicted.Add(page);
    }

    public void OnWritten(ReadOnlySpan<byte> source, long offset)
    {
        long length = Math.Min(source.Length, _committedBytes - offset);
        if (length > 0)
            source[..(int)length].CopyTo(Range.Span(offset, (int)length));
    }

    /// <summary>
    /// Shows what was written while another map of this process showed the file: those writes are in the system's cache, so
    /// a page whose write a checkpoint has yet to hand out can be read without a call.
    /// </summary>
    private void ShowWritten()
    {
        _isFollower = false;
        int length = (int)Math.Min(_committedBytes, _inode.Current.Length);
        _inode.Current.Read(Range.Span(0, length), 0);
    }

    public void Dispose()
    {
        _inode.Detach(this);
        Range.Dispose();
    }
}

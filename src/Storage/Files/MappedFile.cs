using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>A file mapped by the system, for reading only: a stray write in this process cannot reach the file.</summary>
internal sealed class MappedFile(DiskFile file, long reserveBytes) : IFileMap
{
    private readonly ReadAhead _readAhead = new();
    private long _mappedBytes;

    public AddressRange Range { get; } = AddressRange.Reserve(reserveBytes);

    public bool SeesWrites => true;

    public void Grow(long lengthBytes)
    {
        long whole = lengthBytes / PageLayout.SizeBytes * PageLayout.SizeBytes;
        if (whole <= _mappedBytes)
            return;

        Range.MapFile(file.Handle, _mappedBytes, whole - _mappedBytes);
        _readAhead.Grow(whole);
        Volatile.Write(ref _mappedBytes, whole);
    }

    public void Announce(long offset, long lengthBytes)
    {
        _readAhead.Ask(offset, lengthBytes);
        Range.BeginPopulate(offset, lengthBytes);
    }

    public bool Load(long offset, long lengthBytes)
    {
        (long start, long length) = _readAhead.Next(offset);
        length = Math.Min(length, Volatile.Read(ref _mappedBytes) - start);
        if (length > 0)
            Range.BeginPopulate(start, length);
        return Range.Populate(offset, lengthBytes);
    }

    public void Dispose() => Range.Dispose();
}

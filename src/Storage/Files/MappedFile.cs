using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// A file mapped read-only: a stray write in this process cannot reach the file. The whole reservation is mapped at once from
/// the start of the file, so growing needs no call and no mapping needs an offset aligned to the system's page size.
/// </summary>
internal sealed class MappedFile : IFileMap
{
    private const int ReadBytes = 64 << 10;

    private readonly DiskFile _file;
    private readonly DiskFileSystem _files;
    private readonly ReadAhead _readAhead = new();
    private long _fileBytes;

    public MappedFile(DiskFile file, long reserveBytes, DiskFileSystem files)
    {
        _file = file;
        _files = files;
        Range = AddressRange.Reserve(reserveBytes, files.Calls);
        try
        {
            Range.MapFile(file.Handle);
            files.PopulatesMaps = Range.Populate(0, 0) != PopulateResult.Unknown;
        }
        catch
        {
            Range.Dispose();
            throw;
        }
    }

    public AddressRange Range { get; }

    public bool SeesWrites => true;

    public void Grow(long lengthBytes)
    {
        long whole = lengthBytes / PageLayout.SizeBytes * PageLayout.SizeBytes;
        if (whole <= _fileBytes)
            return;

        _readAhead.Grow(whole);
        Volatile.Write(ref _fileBytes, whole);
    }

    public void Announce(long offset, long lengthBytes)
    {
        _readAhead.Ask(offset, lengthBytes);
        Range.BeginPopulate(offset, lengthBytes);
    }

    public bool Load(long offset, long lengthBytes)
    {
        (long start, long length) = _readAhead.Next(offset);
        length = Math.Min(length, Volatile.Read(ref _fileBytes) - start);
        if (length > 0)
            Range.BeginPopulate(start, length);
        else // read before but possibly evicted since: one request for all of it, not one per system page
            Range.BeginPopulate(offset, lengthBytes);
        if (_files.PopulatesMaps is true)
        {
            PopulateResult result = Range.Populate(offset, lengthBytes);
            if (result != PopulateResult.Unknown)
                return result == PopulateResult.Done;

            _files.PopulatesMaps = false; // the system knows the call but does not support it
        }

        return TryRead(offset, lengthBytes);
    }

    public bool TellsResident => OperatingSystem.IsLinux();

    public bool TryFindResident(long offset, Span<byte> resident)
    {
        if (offset + ((long)resident.Length * PageLayout.SizeBytes) > Volatile.Read(ref _fileBytes)
            || !Range.TryFindResident(offset, resident, PageLayout.SizeBytes))
            return false;

        _readAhead.Forget(offset, resident);
        return true;
    }

    public void Dispose() => Range.Dispose();

    /// <summary>
    /// For kernels that cannot load mapped pages on request: a plain read returns the error with which an access to the map
    /// would end the process.
    /// </summary>
    private bool TryRead(long offset, long lengthBytes)
    {
        byte[] bytes = new byte[(int)Math.Min(ReadBytes, lengthBytes)];
        try
        {
            for (long at = 0; at < lengthBytes; at += bytes.Length)
            {
                int length = (int)Math.Min(bytes.Length, lengthBytes - at);
                if (_file.Read(bytes.AsSpan(0, length), offset + at) < length)
                    return false;
            }

            return true;
        }
        catch (StorageException)
        {
            return false;
        }
    }
}

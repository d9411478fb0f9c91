using System.Diagnostics;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// A file view for systems without file mapping and for simulated disks: pages are read into memory on first access and stay
/// there, so memory grows with the pages read.
/// </summary>
internal sealed class CopiedFile(IFile file, long reserveBytes, SystemCalls? calls = null) : IFileMap
{
    private const long CommitStepBytes = 1 << 20;

    private readonly Lock _lock = new();
    private long _committedBytes;

    public AddressRange Range { get; } = AddressRange.Reserve(reserveBytes, calls);

    public bool SeesWrites => false;

    public void Grow(long lengthBytes)
    {
        lock (_lock)
        {
            if (lengthBytes <= _committedBytes)
                return;

            Debug.Assert(lengthBytes <= Range.Length, "addresses are reserved for the whole file");
            long end = Math.Min((lengthBytes + CommitStepBytes - 1) / CommitStepBytes * CommitStepBytes, Range.Length);
            Range.Commit(_committedBytes, end - _committedBytes);
            _committedBytes = end;
        }
    }

    public bool Load(long offset, long lengthBytes)
    {
        lock (_lock)
        {
            try
            {
                while (lengthBytes > 0)
                {
                    int part = (int)Math.Min(lengthBytes, 1 << 30);
                    if (file.Read(Range.Span(offset, part), offset) < part)
                        return false;
                    offset += part;
                    lengthBytes -= part;
                }

                return true;
            }
            catch (IOException)
            {
                return false;
            }
        }
    }

    public void Dispose() => Range.Dispose();
}

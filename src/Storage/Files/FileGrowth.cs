namespace Treepie.Storage.Files;

/// <summary>
/// Makes files longer, with blocks of their own, on file systems that can give blocks ahead and on those that cannot.
/// </summary>
internal static class FileGrowth
{
    private const int ZeroBytes = 1 << 20;

    /// <summary>
    /// Grows a file to a length with real blocks; never shrinks it, and never touches what it has already: others may be writing
    /// there. Throws <see cref="DiskFullException"/> with the file as long as it was.
    /// </summary>
    public static void Allocate(this IFile file, long lengthBytes)
    {
        long before = file.Length;
        if (before >= lengthBytes || file.TryAllocate(before, lengthBytes - before))
            return;

        try
        {
            WriteZeros(file, before, lengthBytes);
        }
        catch (DiskFullException)
        {
            file.Truncate(before);
            throw;
        }
    }

    private static void WriteZeros(IFile file, long from, long to)
    {
        byte[] zeros = new byte[Math.Min(ZeroBytes, to - from)];
        for (long offset = from; offset < to; offset += zeros.Length)
            file.Write(zeros.AsSpan(0, (int)Math.Min(zeros.Length, to - offset)), offset);
    }
}

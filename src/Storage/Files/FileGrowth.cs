namespace Treepie.Storage.Files;

/// <summary>Extends files with allocated blocks, also on file systems that cannot allocate in advance.</summary>
internal static class FileGrowth
{
    private const int ZeroBytes = 1 << 20;

    /// <summary>
    /// Extends a file to a length with allocated blocks. Never shrinks it or touches its existing content, to which others
    /// may be writing. On a <see cref="DiskFullException"/> the file has its old length.
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

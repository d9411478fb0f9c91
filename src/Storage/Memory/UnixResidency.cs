namespace Treepie.Storage.Memory;

/// <summary>Finds which pages of a map are in memory.</summary>
internal static unsafe class UnixResidency
{
    private const int MaxStackBytes = 8192;

    /// <summary>
    /// Returns for each unit of <paramref name="unitBytes"/> whether all of it is in memory (1) or not (0). Returns false if
    /// the system does not tell. Linux gives true results only to users who own the file or may write to it; to others it
    /// reports everything as in memory.
    /// </summary>
    public static bool TryFind(SystemCalls calls, byte* start, Span<byte> resident, int unitBytes)
    {
        if (!OperatingSystem.IsLinux())
            return false;

        int systemBytes = calls.PageBytes;
        long lengthBytes = (long)resident.Length * unitBytes;
        int count = (int)((lengthBytes + systemBytes - 1) / systemBytes);
        Span<byte> vector = count <= MaxStackBytes ? stackalloc byte[count] : new byte[count];
        if (calls.FindResident((nint)start, lengthBytes, vector) != 0)
            return false;

        for (int i = 0; i < resident.Length; i++)
        {
            int first = (int)((long)i * unitBytes / systemBytes), last = (int)((((long)i + 1) * unitBytes - 1) / systemBytes);
            byte all = 1;
            for (int at = first; at <= last; at++)
                all &= vector[at];
            resident[i] = (byte)(all & 1);
        }

        return true;
    }
}

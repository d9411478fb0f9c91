using System.Globalization;

namespace Treepie.Documents.Tests.Encryption;

/// <summary>
/// The memory of another process on Linux, mapping by mapping, as a core dump would have it: what is readable, without what asked
/// to be left out (MADV_DONTDUMP).
/// </summary>
internal static class ProcessMemory
{
    private const int BlockBytes = 4 << 20;
    private const int OverlapBytes = 512;

    /// <summary>Sees a piece of memory; what lies across two pieces is in the second one too.</summary>
    public delegate void Look(string mapping, ReadOnlySpan<byte> block);

    /// <summary>Whether the system lets us.</summary>
    public static bool CanRead(int processId)
    {
        try
        {
            using FileStream memory = Open(processId);
            return Mappings(processId, 0).Count > 0;
        }
        catch (Exception error) when (error is UnauthorizedAccessException or IOException)
        {
            return false;
        }
    }

    /// <summary>Shows all of it but the reservation around an address.</summary>
    public static void Read(int processId, long hidden, Look look)
    {
        using FileStream memory = Open(processId);
        byte[] block = new byte[OverlapBytes + BlockBytes];
        foreach ((string name, long start, long end) in Mappings(processId, hidden))
        {
            int kept = 0;
            for (long at = start; at < end;)
            {
                int read = TryRead(memory, at, block.AsSpan(kept, (int)Math.Min(BlockBytes, end - at)));
                if (read <= 0)
                    break; // a file that ends before its mapping, or the kernel's own pages
                look(name, block.AsSpan(0, kept + read));
                at += read;
                int overlap = Math.Min(OverlapBytes, kept + read);
                block.AsSpan(kept + read - overlap, overlap).CopyTo(block);
                kept = overlap;
            }
        }
    }

    private static FileStream Open(int processId) =>
        new($"/proc/{processId}/mem", FileMode.Open, FileAccess.Read, FileShare.ReadWrite, bufferSize: 0);

    private static int TryRead(FileStream memory, long at, Span<byte> block)
    {
        try
        {
            return RandomAccess.Read(memory.SafeFileHandle, block, at);
        }
        catch (IOException)
        {
            return 0;
        }
    }

    private static List<(string Name, long Start, long End)> Mappings(int processId, long hidden)
    {
        var all = new List<(string Name, long Start, long End, bool IsDumped)>();
        foreach (string line in File.ReadLines($"/proc/{processId}/smaps"))
        {
            int dash = line.IndexOf('-', StringComparison.Ordinal), space = line.IndexOf(' ', StringComparison.Ordinal);
            if (dash > 0
                && space > dash
                && long.TryParse(line.AsSpan(0, dash), NumberStyles.HexNumber, CultureInfo.InvariantCulture, out long start)
                && long.TryParse(
                    line.AsSpan(dash + 1, space - dash - 1), NumberStyles.HexNumber, CultureInfo.InvariantCulture, out long end))
                all.Add((line, start, end, false));
            else if (line.StartsWith("VmFlags:", StringComparison.Ordinal)
                && line.Contains(" rd", StringComparison.Ordinal)
                && !line.Contains(" dd", StringComparison.Ordinal))
                all[^1] = all[^1] with { IsDumped = true };
        }

        // A reservation is a row of mappings without gaps and without files.
        int first = all.FindIndex(mapping => mapping.Start <= hidden && hidden < mapping.End), last = first;
        while (first > 0 && all[first - 1].End == all[first].Start && IsAnonymous(all[first - 1].Name))
            first--;
        while (last >= 0 && last + 1 < all.Count && all[last + 1].Start == all[last].End && IsAnonymous(all[last + 1].Name))
            last++;
        return [
            .. all.Where((mapping, index) => mapping.IsDumped && (index < first || index > last))
                .Select(mapping => (mapping.Name, mapping.Start, mapping.End))];
    }

    private static bool IsAnonymous(string mapping) => mapping.TrimEnd().EndsWith(" 0", StringComparison.Ordinal);
}

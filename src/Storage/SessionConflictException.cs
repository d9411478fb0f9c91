namespace Treepie.Storage;

/// <summary>
/// Thrown when data that an optimistic session has read was changed by another commit. Nothing of the session was kept; run it
/// again from its start, on a new snapshot.
/// </summary>
public sealed class SessionConflictException : StorageException
{
    internal SessionConflictException(string treeName, ReadOnlySpan<byte> key)
        : base(
            $"The session read the key {Show(key)} of tree '{treeName}', and another commit has changed it since. Nothing of the "
                + $"session was kept: run it again.")
    {
        TreeName = treeName;
        Key = key.ToArray();
    }

    /// <summary>The name of the tree.</summary>
    public string TreeName { get; }

    /// <summary>
    /// The first key found to be changed; for a range that was read, it may have been added or removed.
    /// </summary>
    public ReadOnlyMemory<byte> Key { get; }

    private static string Show(ReadOnlySpan<byte> key)
    {
        const int MostBytes = 64;
        ReadOnlySpan<byte> shown = key.Length > MostBytes ? key[..MostBytes] : key;
        bool isText = !shown.ContainsAnyExceptInRange((byte)' ', (byte)'~');
        string text = isText ? $"\"{System.Text.Encoding.ASCII.GetString(shown)}\"" : $"0x{Convert.ToHexStringLower(shown)}";
        return key.Length > MostBytes ? $"{text}… ({key.Length} bytes)" : text;
    }
}

namespace Treepie.Storage;

/// <summary>
/// What an optimistic session read was changed by another commit before its own. Nothing of the session was kept; run it
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

    /// <summary>The tree of the key.</summary>
    public string TreeName { get; }

    /// <summary>
    /// The first key found to be changed; for a stretch that was read, it may be one that was added or removed.
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

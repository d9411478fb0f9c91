using System.Text.Json;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Reads stored settings. One that cannot be read counts as absent: a database must open, take writes and be deletable whatever
/// was once stored as a setting.
/// </summary>
internal static class SettingReader
{
    /// <summary>Reads a setting; null if there is none, or it cannot be read.</summary>
    public static T? Read<T>(ReadOnlyMemory<byte> stored, Func<ReadOnlyMemory<byte>, T> read)
        where T : class
    {
        try
        {
            return stored.IsEmpty ? null : read(stored);
        }
        catch (Exception error)
            when (error is TreepieException or JsonException or KeyNotFoundException or FormatException or OverflowException
                or ArgumentException or InvalidOperationException)
        {
            return null;
        }
    }

    /// <summary>Reads a setting of a snapshot; null if there is none, or it cannot be read.</summary>
    public static T? Read<T>(DatabaseSnapshot snapshot, string name, Func<ReadOnlyMemory<byte>, T> read)
        where T : class =>
        Read(snapshot.Setting(name), read);
}

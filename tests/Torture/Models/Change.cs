using System.Buffers.Binary;
using System.Text;
using Treepie.Storage.Simulation;

namespace Treepie.Torture.Models;

internal enum ChangeKind
{
    /// <summary>Puts a value, in an array of the caller's.</summary>
    Put,

    /// <summary>Puts a value into room that the tree gives.</summary>
    Reserve,

    /// <summary>Deletes a key; makes the tree where there is none.</summary>
    Delete,

    /// <summary>Deletes a key of a tree, if there is one of the name: what a session does.</summary>
    DeleteIfThere,

    /// <summary>Makes the tree, if there is none, and leaves it as it is.</summary>
    Create,

    /// <summary>Drops the tree.</summary>
    Drop,

    /// <summary>Puts many keys in a row.</summary>
    Fill,

    /// <summary>Deletes many keys in a row.</summary>
    Clear,

    /// <summary>Fills the tree's leaves; makes the tree where there is none.</summary>
    Pack,

    /// <summary>Puts into a hash map.</summary>
    MapPut,

    /// <summary>Removes from a hash map.</summary>
    MapRemove,

    /// <summary>Drops a hash map.</summary>
    MapDrop,

    /// <summary>Keeps what the command leaves under a name, in the place of what was kept under it.</summary>
    Snapshot,

    /// <summary>Drops a named snapshot.</summary>
    DropSnapshot,

    /// <summary>The command gives up here: nothing of it may be seen.</summary>
    GiveUp,
}

/// <summary>
/// One thing a command does to a tree. Keys are numbers here; the bytes follow from them, so that a change can be told in a line.
/// </summary>
internal sealed record Change(ChangeKind Kind, int Tree, int Key = 0, int Count = 1, int Length = 0, int Version = 0)
{
    private const int MaxMapKeyBytes = 1024;
    private const int MarkerOffset = 16;

    private static readonly string[] _names = ["alpha", "beta", "gamma", "δέλτα"];

    public string MapName => "map " + TreeName;

    public string SnapshotName => "snapshot " + TreeName;

    public string TreeName => _names[Tree % _names.Length];

    /// <summary>
    /// The bytes of a key: short and long ones, with prefixes that are shared and some that are not, and the empty one.
    /// </summary>
    public static byte[] KeyOf(int number)
    {
        string text = (number % 5) switch
        {
            0 => $"{SecretMarker.Text}/{number:d8}",
            1 => new string((char)('a' + (number % 26)), number * 7 % 40) + number,
            2 => $"{number}",
            3 => number % 100 == 3 ? new string('x', 1500 + (number % 400)) + number : $"p/{number % 7}/{number}",
            _ => number == 4 ? "" : $"{SecretMarker.Text}/{number % 3}/{number}",
        };
        return Encoding.UTF8.GetBytes(text);
    }

    /// <summary>The same for a hash map, whose keys are shorter.</summary>
    public static byte[] MapKeyOf(int number) =>
        KeyOf(number) is { Length: > MaxMapKeyBytes } key ? key[^MaxMapKeyBytes..] : KeyOf(number);

    /// <summary>Bytes that follow from key, version and length: a value that is another's shows it.</summary>
    public static void FillValue(Span<byte> value, int key, int version)
    {
        if (IsMarked(value.Length))
        {
            FillNumbers(value[..MarkerOffset], key, version, value.Length);
            SecretMarker.Bytes.CopyTo(value[MarkerOffset..]);
            FillNumbers(value[(MarkerOffset + SecretMarker.Bytes.Length)..], key, version, value.Length);
            return;
        }

        FillNumbers(value, key, version, value.Length);
    }

    private static void FillNumbers(Span<byte> value, int key, int version, int lengthBytes)
    {
        ulong state = unchecked(((ulong)(uint)key * 0x9E3779B97F4A7C15) ^ ((ulong)(uint)version
            * 0xC2B2AE3D27D4EB4F) ^ (ulong)lengthBytes) | 1;
        while (value.Length >= sizeof(ulong))
        {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            BinaryPrimitives.WriteUInt64LittleEndian(value, state);
            value = value[sizeof(ulong)..];
        }

        for (int i = 0; i < value.Length; i++)
            value[i] = (byte)(state >> (8 * i));
    }

    /// <summary>
    /// Whether a value of so many bytes holds <see cref="SecretMarker"/>, behind its first sixteen, which tell it from others.
    /// </summary>
    private static bool IsMarked(int lengthBytes) => lengthBytes >= 48;

    public byte[] ValueOf(int key)
    {
        var value = new byte[Length];
        FillValue(value, key, Version);
        return value;
    }

    public override string ToString() => Kind switch
    {
        ChangeKind.Put or ChangeKind.Reserve =>
            $"{Kind.ToString().ToLowerInvariant()} {TreeName}[{Key}] = {Length} bytes, version {Version}",
        ChangeKind.Delete or ChangeKind.DeleteIfThere => $"delete {TreeName}[{Key}]",
        ChangeKind.Fill => $"put {TreeName}[{Key}..{Key + Count}) = {Length} bytes each, version {Version}",
        ChangeKind.Clear => $"delete {TreeName}[{Key}..{Key + Count})",
        ChangeKind.MapPut => $"put {MapName}[{Key}..{Key + Count}) = {Length} bytes, version {Version}",
        ChangeKind.MapRemove => $"remove {MapName}[{Key}..{Key + Count})",
        ChangeKind.MapDrop => $"drop {MapName}",
        ChangeKind.Snapshot => $"keep {SnapshotName}",
        ChangeKind.DropSnapshot => $"drop {SnapshotName}",
        _ => $"{Kind.ToString().ToLowerInvariant()} {TreeName}",
    };
}

using System.Buffers.Binary;
using System.Text;
using Treepie.Storage.Simulation;

namespace Treepie.Torture.Models;

internal enum ChangeKind
{
    /// <summary>Puts a value from an array of the caller.</summary>
    Put,

    /// <summary>Puts a value by writing into space reserved in the tree.</summary>
    Reserve,

    /// <summary>Deletes a key; creates the tree if it does not exist.</summary>
    Delete,

    /// <summary>Deletes a key if the tree exists, as a session does.</summary>
    DeleteIfThere,

    /// <summary>Creates the tree if it does not exist, and changes nothing otherwise.</summary>
    Create,

    /// <summary>Drops the tree.</summary>
    Drop,

    /// <summary>Puts many consecutive keys.</summary>
    Fill,

    /// <summary>Deletes many consecutive keys.</summary>
    Clear,

    /// <summary>Packs the leaves of the tree; creates the tree if it does not exist.</summary>
    Pack,

    /// <summary>Puts into a hash map.</summary>
    MapPut,

    /// <summary>Removes from a hash map.</summary>
    MapRemove,

    /// <summary>Drops a hash map.</summary>
    MapDrop,

    /// <summary>Creates a named snapshot of the state after the command, replacing one with this name.</summary>
    Snapshot,

    /// <summary>Drops a named snapshot.</summary>
    DropSnapshot,

    /// <summary>Aborts the command here: none of it may be visible.</summary>
    GiveUp,
}

/// <summary>
/// One change that a command makes to a tree. Keys are numbers from which their bytes are derived, so that a change fits
/// into one line.
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
    /// The bytes of a key: short and long ones, with and without shared prefixes, and the empty one.
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

    /// <summary>Same as above for hash maps, whose keys are shorter.</summary>
    public static byte[] MapKeyOf(int number) =>
        KeyOf(number) is { Length: > MaxMapKeyBytes } key ? key[^MaxMapKeyBytes..] : KeyOf(number);

    /// <summary>Fills a value with bytes derived from key, version and length, so that a wrong value is recognized.</summary>
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
    /// Whether a value of this length contains <see cref="SecretMarker"/>, after the first sixteen bytes, which identify the
    /// value.
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

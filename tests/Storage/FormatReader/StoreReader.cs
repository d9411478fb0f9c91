using System.Buffers.Binary;
using System.Numerics;
using System.Text;

namespace Treepie.Storage.Tests.FormatReader;

/// <summary>
/// Reads the files of an environment according to docs/internals/file-format.md only; it uses no type of the store. If it
/// and the store differ, the page or the store is wrong.
/// </summary>
internal sealed class StoreReader
{
    private const int PageBytes = 8192;
    private const int MetaBytes = PageBytes / 2;
    private const int Header = 64;

    private readonly byte[] _data;
    private readonly IReadOnlyDictionary<string, byte[]> _files;
    private readonly Dictionary<long, byte[]> _changed = [];
    private readonly StoreKeys? _keys;
    private byte[] _catalogue;
    private byte[] _system;

    public StoreReader(IReadOnlyDictionary<string, byte[]> files, byte[]? userKey = null)
    {
        _files = files;
        _data = files["data.treepie"];
        ReadOnlySpan<byte> meta = NewestMeta();
        Assert.Equal(userKey is not null, (Int32(meta, 156) & 2) != 0);
        if (userKey is not null)
        {
            _keys = new StoreKeys(meta.Slice(256, 160), meta.Slice(80, 16), userKey);
            Assert.True(_keys.HasRightTag(meta.ToArray(), "meta"u8));
            long bitmap = Int64(meta, 192);
            for (long page = bitmap; page < bitmap + Int32(meta, 208); page++)
                Assert.True(_keys.HasRightTag(_data[((int)page * PageBytes)..(((int)page + 1) * PageBytes)], "bitmap"u8));
        }

        LastTransaction = Int64(meta, 104);
        _catalogue = meta.Slice(120, 32).ToArray();
        _system = meta.Slice(216, 32).ToArray();
        ReadJournal(meta.ToArray());
    }

    public long LastTransaction { get; private set; }

    /// <summary>All trees by name, with their entries in key order.</summary>
    public Dictionary<string, List<(byte[] Key, byte[] Value)>> Trees() => TreesOf(_catalogue);

    /// <summary>Named snapshots with their trees.</summary>
    public Dictionary<string, Dictionary<string, List<(byte[] Key, byte[] Value)>>> Snapshots() => Entries(_system)
        .Where(entry => entry.Key is [1, ..])
        .ToDictionary(entry => Encoding.UTF8.GetString(entry.Key[1..]), entry => TreesOf(entry.Value[24..56]));

    /// <summary>All hash maps by name, with their records in any order.</summary>
    public Dictionary<string, List<(byte[] Key, byte[] Value)>> Maps() => Entries(_catalogue)
        .Where(entry => entry.Value[29] == 2)
        .ToDictionary(entry => Encoding.UTF8.GetString(entry.Key), entry => Records(entry.Value));

    private Dictionary<string, List<(byte[] Key, byte[] Value)>> TreesOf(byte[] catalogue) => Entries(catalogue)
        .Where(entry => entry.Value[29] == 1)
        .ToDictionary(entry => Encoding.UTF8.GetString(entry.Key), entry => Entries(entry.Value));

    private ReadOnlySpan<byte> NewestMeta()
    {
        int newest = -1;
        for (int copy = 0; copy < 4; copy++)
        {
            ReadOnlySpan<byte> half = _data.AsSpan(copy * MetaBytes, MetaBytes);
            if (half.Slice(64, 8).SequenceEqual("TREEPIE1"u8)
                && UInt32(half, 36) == Crc32C(half)
                && (newest < 0 || Int64(half, 96) > Int64(_data, (newest * MetaBytes) + 96)))
                newest = copy;
        }

        Assert.True(newest >= 0, "No meta page is whole.");
        ReadOnlySpan<byte> meta = _data.AsSpan(newest * MetaBytes, MetaBytes);
        Assert.Equal(1, Int32(meta, 72));
        Assert.Equal(PageBytes, Int32(meta, 76));
        return meta;
    }

    private List<(byte[] Key, byte[] Value)> Entries(byte[] record)
    {
        var entries = new List<(byte[] Key, byte[] Value)>();
        if (record[28] > 0)
            Walk(Int64(record, 0), Int64(record, 8), record[28] - 1, UInt32(record, 24), entries);
        Assert.Equal(Int64(record, 16), entries.Count);
        return entries;
    }

    private void Walk(long number, long birth, int level, uint tree, List<(byte[] Key, byte[] Value)> entries)
    {
        byte[] page = Page(number, birth);
        Assert.Equal(level == 0 ? 3 : 2, page[20]);
        Assert.Equal(level, page[21]);
        Assert.Equal(tree, UInt32(page, 16));
        int count = UInt16(page, 22);
        byte[] prefix = page[UInt16(page, 28)..(UInt16(page, 28) + UInt16(page, 30))];
        int slots = Header + ((count + 7) / 8 * 8 * 4);
        for (int i = 0; i < count; i++)
        {
            int cell = UInt16(page, slots + (2 * i)),
                keyBytes = UInt16(page, cell),
                info = UInt16(page, cell + 2),
                valueBytes = info & 0x7FFF;
            byte[] suffix = page[(cell + 4)..(cell + 4 + keyBytes)],
                value = page[(cell + 4 + keyBytes)..(cell + 4 + keyBytes + valueBytes)];
            var head = new byte[4];
            suffix.AsSpan(0, Math.Min(4, keyBytes)).CopyTo(head);
            Assert.Equal(BinaryPrimitives.ReadUInt32BigEndian(head), UInt32(page, Header + (4 * i)));
            if (level > 0)
                Walk(Packed(value, 0), Packed(value, 6), level - 1, tree, entries);
            else
                entries.Add(
                    ([.. prefix, .. suffix], (info & 0x8000) != 0
                        ? Run(Packed(value, 0), Packed(value, 6), Int32(value, 12))
                        : value));
        }
    }

    private List<(byte[] Key, byte[] Value)> Records(byte[] record)
    {
        var records = new List<(byte[] Key, byte[] Value)>();
        byte[] root = Page(Int64(record, 0), Int64(record, 8));
        Assert.Equal(record[28] - 1, root[21]);
        WalkDirectory(root, root, 0, UInt32(record, 24), records);
        Assert.Equal(Int64(record, 16), records.Count);
        return records;
    }

    private void WalkDirectory(byte[] root, byte[] page, long first, uint map, List<(byte[] Key, byte[] Value)> records)
    {
        Assert.Equal(6, page[20]);
        Assert.Equal(map, UInt32(page, 16));
        long step = 1;
        for (int level = 0; level < page[21]; level++)
            step *= 512;
        for (int i = 0; i < 512; i++)
        {
            int at = 2048 + (12 * i);
            if (Packed(page, at) == 0)
                continue;

            byte[] below = Page(Packed(page, at), Packed(page, at + 6));
            if (page[21] > 0)
                WalkDirectory(root, below, first + (i * step), map, records);
            else
                ReadBucket(root, below, first + i, map, records);
        }
    }

    private void ReadBucket(byte[] root, byte[] page, long bucket, uint map, List<(byte[] Key, byte[] Value)> records)
    {
        for (int level = 0; ; level = 1)
        {
            Assert.Equal((7, level), (page[20], page[21]));
            Assert.Equal(map, UInt32(page, 16));
            int before = records.Count, slots = UInt16(page, 28), width = UInt16(page, 30), keyWidth = Int32(root, 88);
            for (int slot = 0; slot < slots; slot++)
            {
                if (page[80 + slot] == 0)
                    continue;

                int at = width != 65535
                    ? ((80 + slots + 63) / 64 * 64) + (slot * width)
                    : UInt16(page, 80 + slots + (2 * slot)) + 4;
                int keyBytes = width != 65535 ? keyWidth : UInt16(page, at - 4),
                    info = width != 65535 ? width - keyWidth : UInt16(page, at - 2);
                byte[] key = page[at..(at + keyBytes)], value = page[(at + keyBytes)..(at + keyBytes + (info & 0x7FFF))];
                records.Add((key, (info & 0x8000) != 0 ? Run(Packed(value, 0), Packed(value, 6), Int32(value, 12)) : value));
                if (root[96] != 1)
                    continue;

                ulong hash = MapHash(key, UInt64(root, 64)),
                    buckets = UInt64(root, 72),
                    power = BitOperations.RoundUpToPowerOf2(buckets);
                Assert.Equal((ulong)bucket, hash % power < buckets ? hash % power : hash % (power / 2));
                byte tag = (byte)(hash >> 40);
                Assert.Equal(tag == 0 ? 255 : tag, page[80 + slot]);
            }

            Assert.Equal(UInt16(page, 22), records.Count - before);
            if (Packed(page, 64) == 0)
                return;
            page = Page(Packed(page, 64), Packed(page, 70));
        }
    }

    private byte[] Run(long number, long birth, int length)
    {
        byte[] page = Page(number, birth);
        Assert.Equal(4, page[20]);
        Assert.Equal(length, Int32(page, 32));
        return page[Header..(Header + length)];
    }

    /// <summary>Returns a page, or a whole overflow run.</summary>
    private byte[] Page(long number, long birth)
    {
        if (!_changed.TryGetValue(number, out byte[]? page))
        {
            page = OfFile(number);
        }

        Assert.Equal(number, Int64(page, 0));
        Assert.Equal(birth, Int64(page, 8));
        return page;
    }

    private byte[] OfFile(long number)
    {
        int offset = (int)number * PageBytes, length = _data[offset + 20] == 4 ? Header + Int32(_data, offset + 32) : PageBytes;
        if (_keys is not null)
            length = (length + PageBytes - 1) / PageBytes * PageBytes;
        byte[] page = _data[offset..(offset + length)];
        Assert.Equal(UInt32(page, 36), Crc32C(page));
        return _keys?.OpenPage(page) ?? page;
    }

    private void ReadJournal(byte[] meta)
    {
        var uses = new Dictionary<long, byte[]>();
        foreach ((string name, byte[] file) in _files)
            if (name.StartsWith("journal-", StringComparison.Ordinal)
                && file.Length >= 4096
                && file.AsSpan(0, 8).SequenceEqual("TPJRNFIL"u8)
                && UInt64(file, 64) == Hash(file.AsSpan(0, 4096), 64))
                uses[Int64(file, 32)] = file;

        long use = Int64(meta, 160), offset = Int64(meta, 168), frame = Int64(meta, 176);
        ulong before = UInt64(meta, 184);
        while (true)
        {
            // Prefer the last of the later uses: a recovery begins a use with the last frame it found here.
            long next = uses.Where(
                other => other.Key > use && Int64(other.Value, 48) == frame && UInt64(other.Value, 56) == before)
                    .Max(other => (long?)other.Key) ?? use;
            if (next > use)
            {
                use = next;
                offset = 4096;
            }
            else if (uses.TryGetValue(use, out byte[]? file)
                && TryFrame(file, offset, frame, before, out int payload, out ulong hash))
            {
                int start = (int)offset;
                Apply(
                    _keys is null
                        ? file.AsSpan(start + 128, payload)
                        : _keys.OpenFrame(file, file[start..(start + 128 + payload)]),
                    Int64(file, start + 24));
                LastTransaction = Int64(file, (int)offset + 32);
                before = hash;
                offset += (128 + payload + 4095) / 4096 * 4096;
                frame++;
            }
            else
            {
                return;
            }
        }
    }

    private bool TryFrame(byte[] file, long offset, long frame, ulong before, out int payload, out ulong hash)
    {
        payload = 0;
        hash = 0;
        if (offset < 4096 || offset + 128 > file.Length)
            return false;

        ReadOnlySpan<byte> head = file.AsSpan((int)offset);
        payload = Int32(head, 48);
        if (!head[..8].SequenceEqual("TPJFRAME"u8)
            || UInt64(head, 8) != UInt64(file, 40)
            || payload < 0
            || payload > head.Length - 128)
            return false;

        hash = UInt64(head, 72);
        return Int32(head, 56) == (_keys is null ? 0 : 1)
            && hash == Hash(head[..(128 + payload)], 72)
            && Int64(head, 16) == frame
            && UInt64(head, 64) == before
            && Int64(head, 24) == LastTransaction + 1;
    }

    private void Apply(ReadOnlySpan<byte> payload, long birth)
    {
        int pages = Int32(payload, 36), freed = Int32(payload, 48), at = 88 + (12 * freed);
        var made = new Dictionary<long, byte[]>();
        for (int i = 0; i < pages; i++)
        {
            long number = Int64(payload, at), from = Int64(payload, at + 8), fromBirth = Int64(payload, at + 16);
            int run = Int32(payload, at + 24);
            uint ranges = UInt32(payload, at + 28);
            at += 32;
            byte[] page = new byte[run * PageBytes];
            if (from != 0)
                (made.GetValueOrDefault(from) ?? _changed.GetValueOrDefault(from) ?? OfFile(from)).CopyTo(page.AsSpan());
            if (from != 0)
                Assert.Equal(fromBirth, Int64(page, 8));
            if (ranges == uint.MaxValue)
            {
                payload.Slice(at + 4, Int32(payload, at)).CopyTo(page);
                at += 4 + Int32(payload, at);
            }
            else
            {
                byte[] original = [.. page];
                for (uint range = 0; range < ranges; range++)
                {
                    Span<byte> place = page.AsSpan(UInt16(payload, at), UInt16(payload, at + 2) & 0x7FFF);
                    bool isHere = UInt16(payload, at + 2) < 0x8000;
                    if (isHere)
                        payload.Slice(at + 4, place.Length).CopyTo(place);
                    else if (UInt16(payload, at + 4) == 0xFFFF)
                        place.Clear();
                    else
                        original.AsSpan(UInt16(payload, at + 4), place.Length).CopyTo(place);
                    at += 4 + (isHere ? place.Length : 2);
                }
            }

            Assert.Equal(birth, Int64(page, 8));
            made[number] = page;
        }

        Assert.Equal(payload.Length, at);
        foreach ((long number, byte[] page) in made)
            _changed[number] = page;
        _catalogue = payload[..32].ToArray();
        _system = payload.Slice(56, 32).ToArray();
    }

    private static int UInt16(ReadOnlySpan<byte> bytes, int at) => BinaryPrimitives.ReadUInt16LittleEndian(bytes[at..]);

    private static int Int32(ReadOnlySpan<byte> bytes, int at) => BinaryPrimitives.ReadInt32LittleEndian(bytes[at..]);

    private static uint UInt32(ReadOnlySpan<byte> bytes, int at) => BinaryPrimitives.ReadUInt32LittleEndian(bytes[at..]);

    private static long Int64(ReadOnlySpan<byte> bytes, int at) => BinaryPrimitives.ReadInt64LittleEndian(bytes[at..]);

    private static ulong UInt64(ReadOnlySpan<byte> bytes, int at) => BinaryPrimitives.ReadUInt64LittleEndian(bytes[at..]);

    /// <summary>Reads an integer of six bytes.</summary>
    private static long Packed(ReadOnlySpan<byte> bytes, int at) => UInt32(bytes, at) | ((long)UInt16(bytes, at + 4) << 32);

    /// <summary>CRC-32C computed bit by bit, with the field at offset 36 taken as 0.</summary>
    private static uint Crc32C(ReadOnlySpan<byte> page)
    {
        uint crc = uint.MaxValue;
        for (int i = 0; i < page.Length; i++)
        {
            crc ^= i is >= 36 and < 40 ? 0u : page[i];
            for (int bit = 0; bit < 8; bit++)
                crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78 : 0); // 0x1EDC6F41 reflected
        }

        return ~crc;
    }

    /// <summary>The hash of a map's key.</summary>
    private static ulong MapHash(ReadOnlySpan<byte> key, ulong seed)
    {
        const ulong P0 = 0xA0761D6478BD642F, P1 = 0xE7037ED1A0B428DB;
        ulong state = seed ^ P0, a = 0, b = 0;
        ReadOnlySpan<byte> left = key;
        for (; left.Length > 16; left = left[16..])
            state = Fold(UInt64(left, 0) ^ P1, UInt64(left, 8) ^ state);
        int n = left.Length;
        if (n >= 8)
            (a, b) = (UInt64(left, 0), UInt64(left, n - 8));
        else if (n >= 4)
            (a, b) = (UInt32(left, 0), UInt32(left, n - 4));
        else if (n > 0)
            a = ((ulong)left[0] << 16) | ((ulong)left[n / 2] << 8) | left[n - 1];
        return Fold(P1 ^ (ulong)key.Length, Fold(a ^ P1, b ^ state));

        static ulong Fold(ulong x, ulong y)
        {
            ulong high = Math.BigMul(x, y, out ulong low);
            return high ^ low;
        }
    }

    /// <summary>
    /// XXH64 with seed 0, with the eight bytes of the field taken as 0; written from the public description of the algorithm.
    /// </summary>
    private static ulong Hash(ReadOnlySpan<byte> source, int field)
    {
        const ulong P1 = 11400714785074694791,
            P2 = 14029467366897019727,
            P3 = 1609587929392839161,
            P4 = 9650029242287828579,
            P5 = 2870177450012600261;
        byte[] bytes = source.ToArray();
        bytes.AsSpan(field, 8).Clear();
        int at = 0;
        ulong[] lanes = [unchecked(P1 + P2), P2, 0, unchecked(0 - P1)];
        for (; at + 32 <= bytes.Length; at += 32)
            for (int lane = 0; lane < 4; lane++)
                lanes[lane] = Round(lanes[lane], UInt64(bytes, at + (8 * lane)));
        Assert.True(bytes.Length >= 32); // the algorithm for shorter input is not needed: a header is longer
        ulong hash = BitOperations.RotateLeft(lanes[0], 1) + BitOperations.RotateLeft(lanes[1], 7)
            + BitOperations.RotateLeft(lanes[2], 12) + BitOperations.RotateLeft(lanes[3], 18);
        foreach (ulong lane in lanes)
            hash = ((hash ^ Round(0, lane)) * P1) + P4;
        hash += (ulong)bytes.Length;
        for (; at + 8 <= bytes.Length; at += 8)
            hash = (BitOperations.RotateLeft(hash ^ Round(0, UInt64(bytes, at)), 27) * P1) + P4;
        for (; at + 4 <= bytes.Length; at += 4)
            hash = (BitOperations.RotateLeft(hash ^ (UInt32(bytes, at) * P1), 23) * P2) + P3;
        for (; at < bytes.Length; at++)
            hash = BitOperations.RotateLeft(hash ^ (bytes[at] * P5), 11) * P1;
        hash = (hash ^ (hash >> 33)) * P2;
        hash = (hash ^ (hash >> 29)) * P3;
        return hash ^ (hash >> 32);

        static ulong Round(ulong state, ulong input) => BitOperations.RotateLeft(state + (input * P2), 31) * P1;
    }
}

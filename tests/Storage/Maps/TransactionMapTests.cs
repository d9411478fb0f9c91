using System.Globalization;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Maps;

public sealed class TransactionMapTests
{
    private static readonly StorageOptions _options = new()
    {
        MaxDataFileBytes = 256 << 20,
        ScratchReserveBytes = 256 << 20,
        ScratchBudgetBytes = 1 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 256 << 10,
    };

    [Fact]
    public void Numbers_to_numbers() =>
        RunRandom<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>>(
            draw => draw.Next(20_000), draw => draw.NextInt64(), steps: 2000);

    [Fact]
    public void Texts_to_texts_of_any_length() => RunRandom<string, string, StringSerializer, StringSerializer>(
        draw => Text(draw.Next(600)),
        draw => new string('v', draw.Next(20) == 0 ? draw.Next(20_000) : draw.Next(100)) + draw.Next(100), steps: 300);

    [Fact]
    public void Bytes_to_guids() => RunRandom<byte[], Guid, BytesSerializer, PrimitiveSerializer<Guid>>(
        draw => System.Text.Encoding.UTF8.GetBytes(Text(draw.Next(2000))), draw => new Guid(draw.Next(), 0, 0, new byte[8]),
        steps: 500);

    [Fact]
    public void Keys_that_collide_wholly_or_in_part()
    {
        RunRandom<long, long, CollidingSerializer, PrimitiveSerializer<long>>(
            draw => draw.Next(3000), draw => draw.NextInt64(), steps: 1500);
        RunRandom<string, int, LowBitsSerializer, PrimitiveSerializer<int>>(
            draw => Text(draw.Next(2000)), draw => draw.Next(), steps: 1500);
    }

    [Fact]
    public void A_map_grows_over_several_levels_of_its_directory_and_shrinks_again()
    {
        var disk = new SimulatedDisk(new Random(1));
        using StorageEnvironment environment = Open(
            disk, 1, _options with { ScratchReserveBytes = 1L << 30, ScratchBudgetBytes = 128 << 20 });
        const int keys = 2300;
        var value = new byte[2000]; // four per bucket, so more than 512 buckets are needed
        for (int i = 0; i < keys; i += 100)
        {
            int from = i;
            environment.Write(transaction =>
            {
                TransactionMap<int, byte[], PrimitiveSerializer<int>, BytesSerializer> map =
                    transaction.GetOrCreateMap<int, byte[], PrimitiveSerializer<int>, BytesSerializer>("m");
                for (int key = from; key < from + 100; key++)
                    Assert.True(map.TryAdd(key, value));
                return true;
            });
        }

        using (ReadTransaction read = environment.BeginRead())
        {
            TransactionMap<int, byte[], PrimitiveSerializer<int>, BytesSerializer>? map =
                read.FindMap<int, byte[], PrimitiveSerializer<int>, BytesSerializer>("m");
            Assert.Equal(2, map!.Record.Levels); // it was just created
            Assert.Equal(keys, map.Keys.Distinct().Count());
        }

        Assert.Empty(environment.Check().Problems);
        environment.Write(transaction =>
        {
            TransactionMap<int, byte[], PrimitiveSerializer<int>, BytesSerializer>? map =
                transaction.FindMap<int, byte[], PrimitiveSerializer<int>, BytesSerializer>("m");
            for (int key = 0; key < keys; key++)
                Assert.True(map!.TryRemove(key, out _)); // it was just created
            return true;
        });
        environment.Checkpoint(); // releases what the previous checkpoint refers to
        environment.Write(transaction => transaction.GetOrCreateTree("other").Put([1], [1]));
        CheckReport report = environment.Check();
        Assert.Empty(report.Problems);
        Assert.True(report.Pages - report.FreePages < 20, $"{report.Pages} pages, {report.FreePages} free");
    }

    [Fact]
    public void A_dropped_map_gives_its_pages_back_and_its_name()
    {
        var disk = new SimulatedDisk(new Random(1));
        using StorageEnvironment environment = Open(disk, 1, _options);
        environment.Write(transaction =>
        {
            TransactionMap<int, string, PrimitiveSerializer<int>, StringSerializer> map =
                transaction.GetOrCreateMap<int, string, PrimitiveSerializer<int>, StringSerializer>("m");
            for (int i = 0; i < 2000; i++)
                map[i] = new string('x', i);
            return true;
        });
        environment.Write(transaction =>
        {
            Assert.True(transaction.DropMap<int, string, PrimitiveSerializer<int>, StringSerializer>("m"));
            transaction.GetOrCreateTree("m").Put([1], [2]);
            return true;
        });
        using (ReadTransaction read = environment.BeginRead())
        {
            Assert.Empty(read.MapNames);
            Assert.Equal(["m"], read.TreeNames);
            Assert.Throws<ArgumentException>(() => read.FindMap<int, string, PrimitiveSerializer<int>, StringSerializer>("m"));
        }

        Assert.Throws<ArgumentException>(
            () => environment.Write(
                transaction => transaction.GetOrCreateMap<int, string, PrimitiveSerializer<int>, StringSerializer>("m").Count));
        Assert.Empty(environment.Check().Problems);
    }

    [Fact]
    public void Clear_leaves_an_empty_map_of_the_same_kind()
    {
        var disk = new SimulatedDisk(new Random(1));
        using StorageEnvironment environment = Open(disk, 1, _options);
        for (int round = 0; round < 3; round++)
        {
            environment.Write(transaction =>
            {
                TransactionMap<int, string, PrimitiveSerializer<int>, StringSerializer> map =
                    transaction.GetOrCreateMap<int, string, PrimitiveSerializer<int>, StringSerializer>("m");
                map.Clear();
                for (int i = 0; i < 3000; i++)
                    map[i] = i.ToString(CultureInfo.InvariantCulture);
                return true;
            });
            Assert.Empty(environment.Check().Problems);
        }

        environment.Write(transaction =>
        {
            TransactionMap<int, string, PrimitiveSerializer<int>, StringSerializer> map =
                transaction.GetOrCreateMap<int, string, PrimitiveSerializer<int>, StringSerializer>("m");
            map.Clear();
            Assert.True(map.IsEmpty);
            Assert.Empty(map.ToArray());
            map[7] = "seven";
            return true;
        });
        using ReadTransaction read = environment.BeginRead();
        Assert.Equal([new(7, "seven")], read.FindMap<int, string, PrimitiveSerializer<int>, StringSerializer>("m")!.ToArray());
        Assert.Empty(environment.Check().Problems);
    }

    [Fact]
    public void Every_bad_input_is_refused_with_words_and_nothing_is_changed()
    {
        var disk = new SimulatedDisk(new Random(1));
        using StorageEnvironment environment = Open(disk, 1, _options);
        environment.Write(transaction =>
        {
            transaction.GetOrCreateMap<string, string, FaultySerializer, FaultySerializer>("m")["a"] = "1";
            transaction.GetOrCreateMap<int, int, PrimitiveSerializer<int>, LyingSerializer>("lying");
            return true;
        });

        Refused<ArgumentNullException>(map => map[null!] = "x"); // tests null
        Refused<ArgumentNullException>(map => map["x"] = null!); // tests null
        Refused<ArgumentException>(map => map[new string('k', MapLimits.MaxKeyBytes + 1)] = "x");
        Refused<FormatException>(map => map["x"] = FaultySerializer.Throws);
        Refused<FormatException>(map => map["x"] = FaultySerializer.ThrowsLate);
        Refused<FormatException>(map => map[FaultySerializer.ThrowsLate] = "x");
        Refused<FormatException>(map => map.GetOrAdd("x", _ => throw new FormatException()));
        Refused<FormatException>(map => map.AddOrUpdate("a", "x", (_, _) => throw new FormatException()));
        Refused<System.Text.EncoderFallbackException>(map => map["half \uD800"] = "x");
        Refused<InvalidOperationException>(map =>
        {
            foreach ((string key, string _) in map)
                map[key + "x"] = "y";
        });
        Assert.Throws<InvalidOperationException>(
            () => environment.Write(
                transaction => transaction.GetOrCreateMap<int, int, PrimitiveSerializer<int>, LyingSerializer>("lying")[1] = 17));
        Assert.Throws<NotSupportedException>(
            () => environment.Write(
                transaction => transaction.GetOrCreateMap<nint, int, PrimitiveSerializer<nint>, PrimitiveSerializer<int>>(
                    "n").Count));
        ArgumentException other = Assert.Throws<ArgumentException>(
            () => environment.Write(
                transaction => transaction.GetOrCreateMap<string, int, FaultySerializer, PrimitiveSerializer<int>>("m").Count));
        Assert.Contains("values of System.String as faulty", other.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentException>(() => environment.Write(transaction => transaction.GetOrCreateTree("m").Count));

        using ReadTransaction read = environment.BeginRead();
        // It was created above.
        TransactionMap<string, string, FaultySerializer, FaultySerializer> content =
            read.FindMap<string, string, FaultySerializer, FaultySerializer>("m")!;
        Assert.Equal([new("a", "1")], content.ToArray());
        Assert.Throws<InvalidOperationException>(() => content["b"] = "2");
        Assert.Throws<KeyNotFoundException>(() => content["b"]);
        Assert.Throws<ArgumentException>(() => read.FindMap<long, string, PrimitiveSerializer<long>, FaultySerializer>("m"));
        Assert.Throws<ArgumentException>(() => read.FindTree("m"));
        Assert.Empty(environment.Check().Problems);

        void Refused<TException>(Action<TransactionMap<string, string, FaultySerializer, FaultySerializer>> action)
            where TException : Exception => Assert.Throws<TException>(() => environment.Write(transaction =>
            {
                TransactionMap<string, string, FaultySerializer, FaultySerializer> map =
                    transaction.GetOrCreateMap<string, string, FaultySerializer, FaultySerializer>("m");
                map["undone"] = new string('u', 5000);
                action(map);
                return true;
            }));
    }

    [Fact]
    public void A_map_is_of_no_use_after_its_command()
    {
        var disk = new SimulatedDisk(new Random(1));
        using StorageEnvironment environment = Open(disk, 1, _options);
        TransactionMap<int, int, PrimitiveSerializer<int>, PrimitiveSerializer<int>> kept =
            environment.Write(
                transaction => transaction.GetOrCreateMap<int, int, PrimitiveSerializer<int>, PrimitiveSerializer<int>>("m"));
        Assert.Throws<InvalidOperationException>(() => kept[1] = 2);
    }

    [Fact]
    public void Damage_of_any_page_of_a_map_is_found_by_the_check_or_at_first_touch()
    {
        var random = new Random(Seed.Next());
        var disk = new SimulatedDisk(random);
        using (StorageEnvironment environment = Open(disk, 1, _options))
        {
            environment.Write(transaction =>
            {
                TransactionMap<int, int, PrimitiveSerializer<int>, PrimitiveSerializer<int>> map =
                    transaction.GetOrCreateMap<int, int, PrimitiveSerializer<int>, PrimitiveSerializer<int>>("m");
                for (int i = 0; i < 5000; i++)
                    map[i] = i;
                return true;
            });
        }

        byte[] whole = disk.Bytes(FormatLimits.DataFileName);
        var mapPages = Enumerable.Range(2, (whole.Length / PageLayout.SizeBytes) - 2)
            .Where(
                number => (PageType)whole[(number * PageLayout.SizeBytes) + PageLayout.TypeOffset] is PageType.MapBucket
                    or PageType.MapDirectory)
            .ToList();
        Assert.True(mapPages.Count > 5);
        foreach (int page in mapPages)
        {
            byte[] damaged = [.. whole];
            damaged[(page * PageLayout.SizeBytes) + random.Next(PageLayout.SizeBytes)] ^= (byte)(1 << random.Next(8));
            disk.Replace(FormatLimits.DataFileName, damaged);
            using StorageEnvironment environment = Open(disk, 1, _options);
            Assert.NotEmpty(environment.Check().Problems);
        }
    }

    private static StorageEnvironment Open(SimulatedDisk disk, int seed, StorageOptions options) =>
        StorageEnvironment.Open(new World(disk, TimeProvider.System, new Random(seed), false), options);

    internal static string Text(int number) => (number % 4) switch
    {
        0 => $"documents/{number}",
        1 => new string((char)('a' + (number % 26)), number % 50) + number,
        2 => number % 50 == 2 ? new string('k', 900) + number : $"κλειδί {number}",
        _ => number == 3 ? "" : number.ToString(CultureInfo.InvariantCulture),
    };

    /// <summary>
    /// Random transactions, some undone in the middle, while snapshots are held and the environment is closed and reopened.
    /// </summary>
    private static void RunRandom<TKey, TValue, TKeySerializer, TValueSerializer>(
        Func<Random, TKey> key, Func<Random, TValue> value, int steps)
        where TKey : notnull
        where TKeySerializer : struct, IMapSerializer<TKey>
        where TValueSerializer : struct, IMapSerializer<TValue>
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var disk = new SimulatedDisk(random);
        var model = new MapModel<TKey, TValue, TKeySerializer, TValueSerializer>("m", key, value);
        for (int opening = 0; opening < 3; opening++)
        {
            using StorageEnvironment environment = Open(disk, random.Next(), _options);
            var held = new List<(ReadTransaction Read, MapModel<TKey, TValue, TKeySerializer, TValueSerializer> Model)>();
            for (int i = 0; i < 12; i++)
            {
                int drawn = random.Next(), count = random.Next(steps);
                if (random.Next(4) == 0)
                {
                    Assert.Throws<TimeoutException>(() => environment.Write<bool>(transaction =>
                    {
                        model.Apply(drawn, count, transaction, changesModel: false);
                        throw new TimeoutException();
                    }));
                }
                else
                {
                    environment.Write(transaction =>
                    {
                        model.Apply(drawn, count, transaction);
                        return true;
                    });
                }

                if (random.Next(3) == 0)
                    held.Add((environment.BeginRead(), model.Copy()));
                if (random.Next(5) == 0)
                    environment.Checkpoint();
            }

            Assert.Empty(environment.Check().Problems);
            foreach ((ReadTransaction read, MapModel<TKey, TValue, TKeySerializer, TValueSerializer> then) in held)
            {
                then.AssertEqual(read);
                read.Dispose();
            }

            using ReadTransaction last = environment.BeginRead();
            model.AssertEqual(last);
        }
    }
}

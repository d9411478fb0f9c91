namespace Treepie.Architecture.Tests;

/// <summary>
/// Inside a project every folder is a room with a rank, and code refers only to rooms listed before its own or to its own.
/// The project's root holds the doors, which have the rank of the highest room they use, and the options, results and errors,
/// which use no room and may be used from every room.
/// </summary>
public sealed class RoomOrderTests
{
    private const char InnerMark = '/';

    /// <summary>Rooms from the ground up. A room that stands in no list fails the test: give it its place.</summary>
    public static TheoryData<string, string[]> Rooms => new()
    {
        {
            "Treepie.Storage",
            ["Kernels", "Memory", "Format", "Files", "Encryption", "Paging", "Journal", "FreeSpace", "Trees", "Maps", "Snapshots", "Transactions", "Sessions", "Checks", "Backups"]
        },
        {
            "Treepie.Indexing",
            [
                "Kernels", "Schema", "Analysis", "Automata", "Terms", "Catalogue", "Postings", "Columns", "Spatial", "Vectors",
                "Queries", "Plans", "Ranking", "Matching", "Sorting", "TopK",
                "Searching", "Facets", "Suggestions", "Highlighting", "Writing"
            ]
        },
        {
            "Treepie",
            ["Kernels", "Encryption", "Compression", "Json", "Store", "Kinds", "Computations", "Writes", "Lifecycle", "Packing", "Revisions", "Indexes", "Rql", "Queries", "Linq", "Sessions", "IndexClasses", "Archiving", "Backups", "Schedules", "Destinations", "BackupTasks", "Catalogs"]
        },
        {
            "Treepie.Computing",
            ["Values", "CSharp", "JavaScript"]
        },
        {
            "Treepie.Server",
            ["Telemetry", "Limits", "Databases", "Http", "Operations", "Security", "BulkInsert", "Smuggler", "Backups", "Health", "Demo", "Endpoints", "Hosting"]
        },
        {
            "Treepie.CommandLine",
            ["Http", "Activity", "Queries", "Export", "Import", "Certificates", "Keys", "Offline", "Backups", "Commands"]
        },
    };

    [Theory]
    [MemberData(nameof(Rooms))]
    public void A_room_uses_only_the_rooms_below_it(string assembly, string[] rooms)
    {
        var found = new SortedSet<string>(StringComparer.Ordinal);
        foreach ((string from, string to) in TypeReferences.Within(assembly))
        {
            string user = RoomOf(assembly, from), used = RoomOf(assembly, to);
            if (user.Length == 0 || used.Length == 0 || user == used)
                continue;
            if (!rooms.Contains(user))
                found.Add($"{user}: a room without a place in the order");
            else if (Array.IndexOf(rooms, used) > Array.IndexOf(rooms, user))
                found.Add($"{user} uses {used}: {from} → {to}");
        }

        Assert.True(found.Count == 0, "References that go up:\n" + string.Join("\n", found));
    }

    /// <summary>
    /// What lies in the root and uses a room has that room's rank; a room may use it only from there on. So no room knows a door
    /// that leads past it.
    /// </summary>
    [Theory]
    [MemberData(nameof(Rooms))]
    public void No_room_uses_a_door_that_leads_above_it(string assembly, string[] rooms)
    {
        (string From, string To)[] references = [.. TypeReferences.Within(assembly)];
        var places = new Dictionary<string, int>(StringComparer.Ordinal);
        for (bool grows = true; grows;)
        {
            grows = false;
            foreach ((string from, string to) in references)
            {
                if (RoomOf(assembly, from).Length > 0)
                    continue;
                string used = RoomOf(assembly, to);
                int place = used.Length > 0 ? Array.IndexOf(rooms, used) : places.GetValueOrDefault(to, -1);
                if (place <= places.GetValueOrDefault(from, -1))
                    continue;
                places[from] = place;
                grows = true;
            }
        }

        var found = new SortedSet<string>(StringComparer.Ordinal);
        foreach ((string from, string to) in references)
        {
            string user = RoomOf(assembly, from);
            if (user.Length == 0 || RoomOf(assembly, to).Length > 0)
                continue;
            int place = places.GetValueOrDefault(to, -1);
            if (place > Array.IndexOf(rooms, user))
                found.Add($"{from} uses {to}, which leads to {rooms[place]}");
        }

        Assert.True(found.Count == 0, $"{found.Count} uses of doors from below:\n" + string.Join("\n", found));
    }

    [Theory]
    [MemberData(nameof(Rooms))]
    public void Every_room_of_the_order_exists(string assembly, string[] rooms)
    {
        HashSet<string> there = [.. TypeReferences.Within(assembly).Select(reference => RoomOf(assembly, reference.From))];
        Assert.Empty(rooms.Except(there));
    }

    /// <summary>
    /// A room may have rooms inside it, one level deep. What lies in the room itself is its doors, options and results, as in a
    /// project; no way leads from an inner room out through them, or through other inner rooms, and back.
    /// </summary>
    [Theory]
    [MemberData(nameof(Rooms))]
    public void No_circle_leads_through_an_inner_room(string assembly, string[] rooms)
    {
        var uses = new Dictionary<string, SortedSet<string>>(StringComparer.Ordinal);
        foreach ((string from, string to) in TypeReferences.Within(assembly))
        {
            string room = RoomOf(assembly, from), user = PartOf(assembly, from), used = PartOf(assembly, to);
            if (!rooms.Contains(room) || room != RoomOf(assembly, to) || user == used)
                continue;
            if (!uses.TryGetValue(user, out SortedSet<string>? all))
                uses.Add(user, all = new SortedSet<string>(StringComparer.Ordinal));
            all.Add(used);
        }

        var found = new List<string>();
        foreach (string inner in uses.Keys.Where(part => part.EndsWith(InnerMark)))
        {
            var cameFrom = new Dictionary<string, string>(StringComparer.Ordinal);
            var open = new Queue<string>([inner]);
            while (open.TryDequeue(out string? part) && !cameFrom.ContainsKey(inner))
                foreach (string next in uses.GetValueOrDefault(part) ?? [])
                    if (cameFrom.TryAdd(next, part))
                        open.Enqueue(next);
            if (cameFrom.ContainsKey(inner))
                found.Add(WayBack(cameFrom, inner));
        }

        Assert.True(found.Count == 0, $"{found.Count} circles:\n" + string.Join("\n", found));
    }

    /// <summary>The inner room of a type, or the type itself where it lies in none.</summary>
    private static string PartOf(string assembly, string type)
    {
        string[] names = type[assembly.Length..].TrimStart('.').Split('.');
        return names.Length > 2 ? names[0] + '.' + names[1] + InnerMark : type;
    }

    private static string WayBack(Dictionary<string, string> cameFrom, string inner)
    {
        var way = new List<string> { inner };
        for (string part = cameFrom[inner]; part != inner; part = cameFrom[part])
            way.Insert(0, part);
        return inner + " → " + string.Join(" → ", way);
    }

    private static string RoomOf(string assembly, string type)
    {
        string rest = type[assembly.Length..].TrimStart('.');
        int dot = rest.IndexOf('.', StringComparison.Ordinal);
        return dot < 0 ? "" : rest[..dot];
    }
}

namespace Treepie.Architecture.Tests;

/// <summary>
/// Inside a project every folder is a room with a rank, and code refers only to rooms listed before its own or to its own.
/// The project's root holds the front door, which may use every room, and the options, results and errors, which every room may
/// use.
/// </summary>
public sealed class RoomOrderTests
{
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
            ["Encryption", "Compression", "Json", "Store", "Kinds", "Computations", "Writes", "Lifecycle", "Revisions", "Indexes", "Rql", "Queries", "Linq", "Sessions", "Backups", "Schedules", "Destinations", "BackupTasks", "Catalogs"]
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

    [Theory]
    [MemberData(nameof(Rooms))]
    public void Every_room_of_the_order_exists(string assembly, string[] rooms)
    {
        HashSet<string> there = [.. TypeReferences.Within(assembly).Select(reference => RoomOf(assembly, reference.From))];
        Assert.Empty(rooms.Except(there));
    }

    private static string RoomOf(string assembly, string type)
    {
        string rest = type[assembly.Length..].TrimStart('.');
        int dot = rest.IndexOf('.', StringComparison.Ordinal);
        return dot < 0 ? "" : rest[..dot];
    }
}

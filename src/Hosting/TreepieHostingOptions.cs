using Treepie.Sessions;

namespace Treepie.Extensions.Hosting;

/// <summary>Options of a database in a program that uses the .NET generic host.</summary>
public sealed class TreepieHostingOptions
{
    /// <summary>
    /// The directory of the database, created if it does not exist. Required unless <see cref="InMemory"/> is set.
    /// </summary>
    public string? Path { get; set; }

    /// <summary>
    /// Whether to use a database that is deleted when the program ends, for tests. <see cref="Path"/> is then ignored.
    /// </summary>
    public bool InMemory { get; set; }

    /// <summary>The options and limits of the database.</summary>
    public DatabaseOptions Database { get; set; } = new();

    /// <summary>
    /// The options of sessions. Null: entities are serialized as <see cref="DatabaseOptions.Json"/> specifies, or by reflection.
    /// </summary>
    public SessionOptions? Session { get; set; }

    internal Database Open() => InMemory
        ? Treepie.Database.OpenInMemory(Database)
        : Treepie.Database.Open(
            Path
                ?? throw new InvalidOperationException(
                    "The database has no directory. Set TreepieHostingOptions.Path in AddTreepieDatabase, or InMemory for "
                        + "tests."),
            Database);
}

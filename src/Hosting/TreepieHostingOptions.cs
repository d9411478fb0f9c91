using Treepie.Sessions;

namespace Treepie.Extensions.Hosting;

/// <summary>A database of a program with a host.</summary>
public sealed class TreepieHostingOptions
{
    /// <summary>The database's directory, made if it is missing. Needed unless <see cref="InMemory"/>.</summary>
    public string? Path { get; set; }

    /// <summary>The database is gone when the program ends: for tests. A <see cref="Path"/> is then passed over.</summary>
    public bool InMemory { get; set; }

    /// <summary>Limits and settings of the database.</summary>
    public DatabaseOptions Database { get; set; } = new();

    /// <summary>How sessions write objects; null: by reflection, or as <see cref="DatabaseOptions.Json"/> says.</summary>
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


namespace Treepie.Server.Databases;

/// <summary>One database that belongs to the program around the API.</summary>
internal sealed class SingleDatabaseSource(Database database) : IDatabaseSource
{
    public IReadOnlyList<string> Names { get; } = [database.Name];

    public Database? Find(string name) => string.Equals(name, database.Name, StringComparison.OrdinalIgnoreCase) ? database : null;

    public Database Create(string name) => Find(name) is not null
        ? throw new ConcurrencyException($"Database '{database.Name}' already exists.")
        : throw WireException.BadRequest($"This program serves the one database '{database.Name}'; it cannot create '{name}'.");

    public bool Delete(string name, bool deleteFiles) => Find(name) is null
        ? false
        : throw WireException.BadRequest($"Database '{database.Name}' belongs to the program that serves it, which alone can delete it.");
}

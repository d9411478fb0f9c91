namespace Treepie.Server.Databases;

/// <summary>Where the API finds its databases.</summary>
internal interface IDatabaseSource
{
    /// <summary>Names of all databases, sorted.</summary>
    IReadOnlyList<string> Names { get; }

    /// <summary>The database of that name (case-insensitive); null if there is none.</summary>
    Database? Find(string name);

    /// <summary>Creates and opens a database.</summary>
    Database Create(string name);

    /// <summary>Closes a database that nobody uses, with its files if asked; false if there is none.</summary>
    bool Delete(string name, bool deleteFiles);
}

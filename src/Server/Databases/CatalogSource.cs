namespace Treepie.Server.Databases;

/// <summary>The databases of a catalogue.</summary>
internal sealed class CatalogSource(DatabaseCatalog catalog) : IDatabaseSource
{
    public IReadOnlyList<string> Names => catalog.Names;

    public Database? Find(string name) => catalog.Find(name);

    public Database Create(string name) => catalog.Create(name);

    public bool Delete(string name, bool deleteFiles) => catalog.Delete(name, deleteFiles);
}

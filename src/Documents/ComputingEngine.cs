namespace Treepie;

/// <summary>
/// What compiles the texts that compute: scripts of patches and queries, maps and reduces of indexes. The package Treepie.Computing has the one there is; without one, a database refuses
/// such texts by name. Thread-safe.
/// </summary>
public abstract class ComputingEngine
{
    internal ComputingEngine()
    {
    }
}

using Treepie.Storage.Format;

namespace Treepie.Storage.Checks;

/// <summary>
/// Checks one kind of catalogue entry by walking all its pages. Each kind of record has its own implementation.
/// </summary>
internal interface ITreeCheck
{
    /// <summary>Walks one entry, marks its pages and reports its faults. Throws only if cancelled.</summary>
    void Run(string name, TreeRecord record);
}

using Treepie.Storage.Format;

namespace Treepie.Storage.Checks;

/// <summary>Walks one kind of what a catalogue names, every page of it. Each kind of record has one.</summary>
internal interface ITreeCheck
{
    /// <summary>Walks one, marks its pages and reports its faults; throws only when cancelled.</summary>
    void Run(string name, TreeRecord record);
}

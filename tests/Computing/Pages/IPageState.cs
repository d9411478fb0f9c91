namespace Treepie.Computing.Tests.Pages;

/// <summary>What the blocks of a page are given: static members, which a block may hide, and the documents it asks for.</summary>
internal interface IPageState : IDisposable
{
    /// <summary>Makes what a block uses.</summary>
    /// <param name="directory">The directory of the block's files.</param>
    Task BeginAsync(string directory);

    /// <summary>Does what the page leaves to its reader, such as saving.</summary>
    Task EndAsync();
}
